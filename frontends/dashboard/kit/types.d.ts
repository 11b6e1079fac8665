// What the service answers and the page asks of its browser, for the checker of types. Nothing here is run.

type Goal = "minimize" | "maximize";
type Flat = boolean | number | string;
type Path = (string | number)[];

interface Metric {
  name: string;
  label: string;
  unit: string;
  goal: Goal;
  reference: number | null;
  doc: string;
  kind:
    | "epoch" | "time" | "count" | "error" | "calibration" | "loss"
    | "weight" | "rate" | "relevance" | "accuracy" | "robustness"
    | "gap" | "imbalance" | "size" | "spread" | "cosine" | "length" | "distance" | "objective" | "own";
  integer: boolean;
  training_of: string | null;
  validation_of: string | null;
  summarises: string | null;
  family: string | null;
}

interface CodeAnswer {
  hash: string;
  state: "waiting" | "described" | "refused";
  entry: string;
  problems: {
    name: string;
    kind: "problem" | "script";
    doc: string;
    terms: string[];
    parameters: {
      name: string;
      kind: "bool" | "int" | "float" | "str";
      choices: (boolean | number | string)[] | null;
      default: boolean | number | string | null;
      required: boolean;
      optional: boolean;
      doc: string;
    }[];
  }[];
  reason: string | null;
  file: string | null;
  line: number | null;
}

interface Counts {
  planned: number;
  running: number;
  finished: number;
  failed: number;
  stopped: number;
  collapsed: number;
  infeasible?: number;
}

interface ArmLook {
  name: string;
  colour: string;
  symbol: string;
}

interface Control {
  param: string;
  label: string;
  kind: "metric" | "choice" | "number";
  options: [string, string][];
  default: string;
}

interface FigureOffer {
  name: string;
  title: string;
  group: string;
  controls: Control[];
}

interface Objective {
  metric: string;
  goal: Goal;
  reference?: number | null;
}

/** As people write it; the service has checked only what it has accepted. */
interface Spec {
  [key: string]: any;
  name: string;
  objectives: Objective[];
  arms: any[];
}

interface ListedStudy {
  id: string;
  name: string;
  state: string;
  created_at: string;
  started_at: string | null;
  ended_at: string | null;
  ran_seconds: number;
  reason: string | null;
  interrupted?: string | null;
  counts: Counts;
  progress: number;
  eta_seconds: number | null;
  arms: ArmLook[];
  spark: number[];
  unreadable?: string | null;
  lost_events?: number;
  last_seq: number;
  flattered?: string | null;
  data?: string;
  tags?: string[];
  pinned?: boolean;
  archived?: boolean;
  excerpt?: string;
}

interface Study extends ListedStudy {
  queue_position?: number | null;
  pausing?: boolean;
  spec: Spec;
  metrics: Metric[];
  notes?: string;
  figures: FigureOffer[];
  curves: boolean;
}

/** A light of the catalog, and why it is that one. */
interface MetricLight {
  light: string;
  words: string;
}

interface Trial {
  id: string;
  arm: string;
  seed: number;
  state: string;
  reason: string | null;
  collapsed: boolean;
  feasible?: boolean | null;
  on_front: boolean;
  verifies: boolean;
  config: Record<string, Flat>;
  metrics: Record<string, number | null>;
  places: number;
  intervals: Record<string, [number, number]>;
  lights: Record<string, MetricLight>;
  training_seconds: number | null;
  started_at: string | null;
  ended_at: string | null;
  host: string | null;
}

/** A point that a rule has chosen, and a study of it alone. */
interface PickedPoint {
  by: string;
  why: string;
  trial: string;
  arm: string;
  seed: number;
  where: Record<string, number> | null;
  state: string;
  config: Record<string, Flat>;
  metrics: Record<string, number | null>;
  selection: string | null;
  candidates: number;
  checkpoint: string | null;
  spec: Spec;
  yaml: string;
}

/** One of the many points of a trial. */
interface CurvePoint {
  where: Record<string, number>;
  metrics: Record<string, number | null>;
}

/** By how much a point is better than a front: told, and by its two readings. */
interface FrontReading {
  told: number;
  step: number;
  line: number;
}

interface PointAgainstFront {
  where: Record<string, number> | null;
  dominated: boolean;
  beyond: boolean | null;
  distance: FrontReading | null;
  matched: Record<string, FrontReading>;
  amounts_to: Record<string, number>;
}

/** Where a trial lies against the baseline's front of its seed. */
interface TrialAgainstFront {
  baseline: string;
  points: PointAgainstFront[];
}

interface OpenTrial extends Trial {
  reports: (Record<string, number | null> & { points?: CurvePoint[] })[];
  points: CurvePoint[];
  against_front: TrialAgainstFront | null;
  log: string[];
  artifacts: Record<string, number>;
}

interface TrialPage {
  trials: Trial[];
  next: string | null;
  total: number;
  columns: { config: string[]; varied: string[] };
}

interface Spread {
  mean: number | null;
  half_width: number | null;
  low: number | null;
  high: number | null;
}

interface ComparedArm extends ArmLook {
  counts: Counts;
  best_over_seeds: Record<string, Spread>;
  optimism: Record<string, number>;
  front_share: number | null;
  hypervolume: Spread;
  distance: Spread & { seeds: number };
  amounts_to_over_seeds: Record<string, { mean: number; lower: number | null; upper: number | null }>;
  lands_between?: Record<string, { mean: number; lower: number | null; upper: number | null }[]>;
  epsilon_over_seeds: Spread;
  igd_plus_over_seeds: Spread;
  dominated_over_seeds: { mean: number | null; lower: number | null; upper: number | null };
  delta_m: Spread | null;
  mean_rank: Spread | null;
  verified: { training_seconds: number; words: string } | null;
  training_seconds: number | null;
}

interface Pair {
  arm: string;
  standing: string | null;
  standing_words: string;
  distance_p_value: number | null;
  words: string;
}

type OverSeeds = Spread & { seeds: number };

/** A curve that can be asked for, by the first trial of its configuration. */
interface DrawnCurve {
  trial: string;
  arm: string;
  config: Record<string, Flat>;
  seeds: number;
}

interface CurvePlace {
  where: Record<string, number>;
  metrics: Record<string, OverSeeds>;
  collapsed: number;
  nearest: number | null;
}

interface ConstantSetting {
  where: Record<string, number>;
  config: Record<string, Flat>;
  metrics: Record<string, OverSeeds>;
}

interface Curves {
  curves: DrawnCurve[];
  shown: string | null;
  places: CurvePlace[];
  beside: { arm: string; verifies: boolean; settings: ConstantSetting[] } | null;
}

interface Comparison {
  seeds: number;
  objectives: { metric: string; reference: number | null }[];
  selection_words: string;
  lights: Record<string, MetricLight>;
  baseline: string | null;
  verdict: string;
  gradients: string | null;
  single: { words: string } | null;
  arms: ComparedArm[];
  pairs: Pair[];
}

interface Preset {
  name: string;
  doc: string;
  text: string;
}

interface Entry {
  name: string;
  doc: string;
  schema: Schema;
  often_set: string[];
  first_choice: boolean;
}

/** Ours, or of code that was sent: then with its hashes, newest first. */
interface ProblemEntry extends Entry {
  code: string[];
  entry: string | null;
  terms: string[];
}

/** Of the form: a script of your own weighs nothing, or by itself. */
type FormProblem = ProblemEntry & { weighs?: boolean };

interface Catalog {
  data: Entry[];
  models: Entry[];
  problems: ProblemEntry[];
  weightings: Entry[];
  searches: (Entry & { suggests: boolean })[];
  attacks: Entry[];
  sections: Entry[];
  metrics: Metric[];
}

/** What the form offers: the service's catalog, or with the problems of a reader's own file. */
interface FormCatalog extends Catalog {
  problems: FormProblem[];
  code?: string; // the file that the problems stand in
}

interface Vocabulary {
  study_defaults: Record<string, string | null>;
  interrupted_words: string;
  study_states: { name: string; ended: boolean; takes: string[]; words: string }[];
  trial_states: string[];
  event_kinds: string[];
  figure_groups: { name: string; title: string; is_tab: boolean }[];
  front_figure: string;
  beside_the_front: string;
  row_per_arm: string[];
  markers: Record<string, string>;
  letters: Record<string, string>;
  parameter_types: Record<string, string>;
  pick_rules: { name: string; words: string }[];
  lights: { name: string; mark: string; words: string }[];
  downloads: { title: string; address: string }[];
  key_order: string[];
  demo_preset: string;
  limits: {
    studies_overlaid: number;
    studies_listed: number;
    seeds: { least: number; most: number };
    objectives: { least: number; most: number };
    collapsed_below_bits: number;
  };
}

interface Schema {
  [key: string]: any;
  properties: Record<string, any>;
  required?: string[];
}

interface Detail {
  path: string;
  message: string;
  line?: number | null;
}

interface CostEstimate {
  training_seconds: number | null;
  wall_seconds: number | null;
  basis: string;
  arms: { name: string; training_seconds: number | null }[];
}

interface PlannedArm extends ArmLook {
  trials: number;
}

interface ErrorBody {
  code: string;
  message: string;
  details: Detail[];
}

interface ValidStudy {
  valid: true;
  spec: Spec | null;
  trials: number;
  arms: PlannedArm[];
  cost: CostEstimate;
  metrics: Metric[];
  objectives: Objective[];
  warnings: Detail[];
}

interface RefusedStudy {
  valid: false;
  spec: Spec | null;
  error: ErrorBody;
}

/** What the service says about a study that was not submitted. */
type CheckAnswer = ValidStudy | RefusedStudy;

/** A Plotly figure; `meta` of its layout is ours. */
interface Figure {
  data: any[];
  layout: any;
}

interface PlotElement extends HTMLDivElement {
  data: any[];
  layout: any;
  on(event: string, act: (event: any) => void): void;
}

interface Element {
  moveBefore?(node: Node, before: Node | null): void; // not in every browser
}

interface Window {
  early?: Map<string, Promise<Response | null>>;
  Plotly?: any;
}

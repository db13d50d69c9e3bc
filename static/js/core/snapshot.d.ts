// Written by `python -m tests.typescript` from the dataclasses of app/stories; a test holds it to them.

/** A finite number as JSON has it; others as strings. */
export type Num = number | "NaN" | "Infinity" | "-Infinity";

/** A number where the values are numbers, a list where they are vectors. */
export type Shaped = Num | Num[];

/** What every snapshot says alike. */
export interface Told<Event, State> {
  machine: string;
  version: number;
  spec: Record<string, any>;
  step: number;
  steps: number;
  done: boolean;
  event: Event;
  state: State;
  ledger: { reads: number; writes: number; kept: number; ops: Record<"mul" | "add" | "exp" | "div" | "max", number> };
  caption: string;
  spoken: string;
  words: Record<string, string>;
  links: Record<string, string>;
}

/** What the step just made did. `kind` is start at step 0, where the rest is absent. */
export interface PassesEvent {
  /** what was done */
  kind: "start" | "read";
  /** which pass over the scores, from 1 */
  pass?: number;
  /** which scores this step read: their places, from 0 */
  indices?: number[];
  /** what the pass does: max finds the highest, sum adds sizes, both does both at once, share writes shares */
  op?: string;
  /** the scores as read, rounded */
  scores?: Num[];
  /** one for each score: itself (max), its size (sum, both) or its share (share) */
  results?: Num[];
}

/** What is kept, which pass is under way, and the shares written so far. */
export interface PassesState {
  /** the highest score so far */
  m?: Num;
  /** the sum of sizes so far */
  l?: Num;
  /** the pass of the step just made; 0 before any */
  pass: number;
  /** how many passes the method makes */
  passes: number;
  /** numbers read and written so far, for each score of the row */
  accesses?: Num;
  /** what was kept after each read, for each pass begun that keeps something new; only of a row that fits on a page */
  kept?: {
    /** the highest score so far */
    m?: Num;
    /** the sum of sizes so far */
    l?: Num;
  }[][];
  /** the shares written so far */
  shares?: Num[];
}

export type PassesSnapshot = Told<PassesEvent, PassesState>;

/** What the step just made did. `kind` is start at step 0, where the rest is absent. */
export interface OnlineEvent {
  /** what was done */
  kind: "start" | "read";
  /** which scores this step read: their places, from 0 */
  indices?: number[];
  /** the scores as read: rounded, offset added */
  scores?: Num[];
  /** the highest score before */
  m_old?: Num;
  /** the highest score after */
  m_new?: Num;
  /** exp(m_old − m_new), the factor on all that was kept; 0 while nothing is */
  alpha?: Num;
  /** exp(score − m_new) for each score read; 0 where masked */
  p?: Num[];
  /** l before */
  l_old?: Num;
  /** the sum of p */
  row_sum?: Num;
  /** l_old · alpha */
  l_rescaled?: Num;
  /** whether the highest score rose */
  new_max?: boolean;
  /** whether it rose when something was already kept */
  rescales?: boolean;
  /** whether row_sum was above 0 and rounded away whole */
  stalled?: boolean;
  /** their values as read, rounded to the format */
  values?: Shaped[];
  /** acc before */
  acc_old?: Shaped;
  /** the sum of p · value */
  pv?: Shaped;
  /** acc_old · alpha */
  acc_rescaled?: Shaped;
}

/** What the algorithm keeps, and what is derived from it for the reader. */
export interface OnlineState {
  /** the highest score so far; -Infinity before any live one */
  m: Num;
  /** the sum of exp(score − m) */
  l: Num;
  /** m + log l, natural logarithm */
  lse: Num;
  /** the scores read so far, which the algorithm has forgotten */
  terms: {
    /** its place, from 0 */
    index: number;
    /** as read */
    score: Num;
    /** exp(score − m) */
    size: Num;
    /** the same before this step; absent for a score just read */
    size_before?: Num;
  }[];
  /** the old way beside it */
  naive: {
    /** exp(score) */
    exps: Num[];
    /** their sum so far */
    sum: Num;
    /** whether a share of the scores read so far differs from the reference by more than rounding */
    failed: boolean;
    /** the operation that first gave an infinity and the one that first gave NaN, in the order met */
    first_bad: {
      /** Infinity or NaN */
      gives: Num;
      /** which operation: exp, add or div */
      op: string;
      /** the score it belongs to, from 0 */
      index: number;
      /** in words */
      text: string;
    }[];
    /** exp / sum, when all are read */
    shares?: Num[];
  };
  /** the float64 answer */
  reference: {
    /** highest score */
    m: Num;
    /** sum of exp(score − m) */
    l: Num;
    /** log of the sum of exp(score) */
    lse: Num;
    /** softmax */
    shares: Num[];
    /** weighted average of the values */
    output?: Shaped;
  };
  /** the sum of exp(score − m) · value */
  acc?: Shaped;
  /** acc / l */
  output?: Shaped;
  /** size / l for each score, when all are read: a second read, outside the ledger */
  shares?: Num[];
}

export type OnlineSnapshot = Told<OnlineEvent, OnlineState>;

/** What the step just made did. */
export interface DivisionEvent {
  /** what was computed */
  kind: "start" | "exponentials" | "shares" | "weigh" | "divide";
}

/** Both ways so far. */
export interface DivisionState {
  /** shares first */
  first: {
    /** exponential / l */
    shares?: Num[];
    /** the sum of share · value */
    output?: Shaped;
  };
  /** division last */
  last: {
    /** the sum of exponential · value */
    weighted_sum?: Shaped;
    /** weighted_sum / l */
    output?: Shaped;
  };
  /** the float64 answer */
  reference: {
    /** the sum of exponentials */
    l: Num;
    /** the average */
    output: Shaped;
    /** softmax */
    shares: Num[];
  };
  /** the highest score */
  m?: Num;
  /** the sum of exponentials */
  l?: Num;
  /** exp(score − m) */
  exponentials?: Num[];
  /** the output, when both are done: the last way's */
  output?: Shaped;
}

export type DivisionSnapshot = Told<DivisionEvent, DivisionState>;

/** What the step just made did. `kind` is start at step 0, where the rest is absent. */
export interface StandardEvent {
  /** which table was made: start (none yet), scores, softmax or output */
  kind: string;
  /** for each row, the operation that first gave an infinity and the one that first gave NaN, in the order met */
  first_bad?: {
    /** the query, from 0 */
    row: number;
    /** the step that made it */
    step: number;
    /** Infinity, -Infinity or NaN */
    gives: Num;
    /** which operation: mul, add, sub, exp, div, or cast, a number stored in a format */
    op: string;
    /** in words */
    text: string;
    /** the key it belongs to, from 0; absent for one on what the row keeps */
    index?: number;
    /** the element of the vector, from 0, where it belongs to one */
    element?: number;
  }[];
  /** softmax: the shares before they are cast; where p_format is another format than accumulate */
  p?: Num[][];
  /** softmax: the shares as they meet V, cast to p_format; where that is another format than accumulate */
  p_cast?: Num[][];
}

/** What lies in slow memory. */
export interface StandardState {
  /** for each row, the operation that first gave an infinity and the one that first gave NaN, in the order met */
  first_bad: {
    /** the query, from 0 */
    row: number;
    /** the step that made it */
    step: number;
    /** Infinity, -Infinity or NaN */
    gives: Num;
    /** which operation: mul, add, sub, exp, div, or cast, a number stored in a format */
    op: string;
    /** in words */
    text: string;
    /** the key it belongs to, from 0; absent for one on what the row keeps */
    index?: number;
    /** the element of the vector, from 0, where it belongs to one */
    element?: number;
  }[];
  /** the float64 answer */
  reference: {
    /** n_q rows of d_v */
    output: Num[][];
    /** log of the sum of exp(score), a row; -Infinity for a row with no live key */
    lse: Num[];
    /** the same from the inputs as typed; where the output then has other digits when it is shown */
    typed?: {
      /** n_q rows of d_v */
      output: Num[][];
      /** log of the sum of exp(score), a row; -Infinity for a row with no live key */
      lse: Num[];
    };
  };
  /** the scores, n_q rows of n_k; -Infinity where masked */
  s?: Num[][];
  /** the shares, n_q rows of n_k, in p_format */
  p?: Num[][];
  /** n_q rows of d_v */
  output?: Num[][];
  /** how far rounding carried the output */
  error?: {
    /** of the output */
    output: {
      /** |result − exact| */
      absolute: Num;
      /** that over |exact| */
      relative: Num;
      /** that in units in the last place of the output's format */
      ulps: Num;
    };
  };
}

export type StandardSnapshot = Told<StandardEvent, StandardState>;

/** What the step just made did. `kind` is start at step 0, where the rest is absent; a row is a query of the tile. */
export interface TiledEvent {
  /** what was done */
  kind: "start" | "tile" | "normalise";
  /** the tile's queries, from the first to before the second, as in Python */
  q_rows?: number[];
  /** for each row, the operation that first gave an infinity and the one that first gave NaN, in the order met */
  first_bad?: {
    /** the query, from 0 */
    row: number;
    /** the step that made it */
    step: number;
    /** Infinity, -Infinity or NaN */
    gives: Num;
    /** which operation: mul, add, sub, exp, div, or cast, a number stored in a format */
    op: string;
    /** in words */
    text: string;
    /** the key it belongs to, from 0; absent for one on what the row keeps */
    index?: number;
    /** the element of the vector, from 0, where it belongs to one */
    element?: number;
  }[];
  /** its keys, likewise */
  k_cols?: number[];
  /** whether every cell of the tile is masked, so that nothing was read */
  skipped?: boolean;
  /** what the step did, in order; none for a skipped tile */
  phases?: string[];
  /** the tile's rows of Q, as loaded */
  q?: Num[][];
  /** its rows of K, as loaded */
  k?: Num[][];
  /** its rows of V, as loaded */
  v?: Num[][];
  /** q·k */
  dots?: Num[][];
  /** q·k times the scale; -Infinity where masked */
  scores?: Num[][];
  /** each row's highest score before */
  m_old?: Num[];
  /** and after */
  m_new?: Num[];
  /** fa1: each row's highest score in this tile alone */
  m_tile?: Num[];
  /** exp(m_old − m_new), a row; 0 while nothing is kept */
  alpha?: Num[];
  /** fa1: exp(m_tile − m_new), a row */
  beta?: Num[];
  /** exp(score − m_new), in fa1 exp(score − m_tile); 0 where masked */
  p?: Num[][];
  /** p as it meets V, cast to p_format; where that is another format than compute */
  p_cast?: Num[][];
  /** l before */
  l_old?: Num[];
  /** l_old · alpha */
  l_rescaled?: Num[];
  /** fa1: the sum of p, a row */
  l_tile?: Num[];
  /** the sum of p, a row */
  row_sums?: Num[];
  /** fa2: acc before */
  acc_old?: Num[][];
  /** fa1: the output before */
  o_old?: Num[][];
  /** fa2: acc_old · alpha; fa1: o_old · l_rescaled */
  acc_rescaled?: Num[][];
  /** p · V */
  pv?: Num[][];
  /** whether the row's highest score rose, a row */
  new_max?: boolean[];
  /** whether the row had kept nothing yet, so that its alpha is nothing to rescale, a row */
  fresh?: boolean[];
  /** whether any row shrinks what it keeps */
  rescales?: boolean;
  /** normalise: what each row is divided by */
  l?: Num[];
  /** normalise: what is divided */
  acc?: Num[][];
  /** normalise: the rows finished */
  output?: Num[][];
}

/** For every query what is kept or written out, and the map of positions. */
export interface TiledState {
  /** the highest score so far, a row; -Infinity before any live one */
  m: Num[];
  /** the sum of exp(score − m), a row */
  l: Num[];
  /** m + log l, a row, natural logarithm */
  lse: Num[];
  /** the map of positions, a row for each query: waiting, live (the tile just taken), consumed or masked, one for each key */
  cells: string[][];
  /** the same map: whether a score was used and dropped */
  consumed: boolean[][];
  /** for each row, the operation that first gave an infinity and the one that first gave NaN, in the order met */
  first_bad: {
    /** the query, from 0 */
    row: number;
    /** the step that made it */
    step: number;
    /** Infinity, -Infinity or NaN */
    gives: Num;
    /** which operation: mul, add, sub, exp, div, or cast, a number stored in a format */
    op: string;
    /** in words */
    text: string;
    /** the key it belongs to, from 0; absent for one on what the row keeps */
    index?: number;
    /** the element of the vector, from 0, where it belongs to one */
    element?: number;
  }[];
  /** the float64 answer */
  reference: {
    /** n_q rows of d_v */
    output: Num[][];
    /** log of the sum of exp(score), a row; -Infinity for a row with no live key */
    lse: Num[];
    /** the same from the inputs as typed; where the output then has other digits when it is shown */
    typed?: {
      /** n_q rows of d_v */
      output: Num[][];
      /** log of the sum of exp(score), a row; -Infinity for a row with no live key */
      lse: Num[];
    };
  };
  /** fa2: the sum of exp(score − m) · V, unnormalised; fa1 has none */
  acc?: Num[][];
  /** a row of d_v for each query; an empty row where there is no output yet; absent before the first */
  output?: Num[][];
  /** how far rounding carried the output */
  error?: {
    /** of the output */
    output: {
      /** |result − exact| */
      absolute: Num;
      /** that over |exact| */
      relative: Num;
      /** that in units in the last place of the output's format */
      ulps: Num;
    };
  };
}

export type TiledSnapshot = Told<TiledEvent, TiledState>;

/** What the step just made did: a worker read its part, or two results were merged. */
export interface MergeEvent {
  /** what was done */
  kind: "start" | "worker" | "merge";
  /** of the result made: the step that made it */
  number?: number;
  /** worker: its part; merge: the two results that are merged, by number, from 1 */
  parts?: number[];
  /** m of the result */
  m_new?: Num;
  /** worker: the first score of its part, from 0 */
  from?: number;
  /** worker: the score after its last */
  to?: number;
  /** worker: the scores as read, rounded */
  scores?: Num[];
  /** worker: their values as read, rounded */
  values?: Shaped[];
  /** worker: how often a new highest score shrank what it kept */
  rescales?: number;
  /** m for each of the two that are merged */
  m_old?: Num[];
  /** exp(m_old − m_new) for each of the two; 0 for an empty one, and then 1 for the other */
  factors?: Num[];
  /** l for each of the two */
  l_old?: Num[];
  /** l_old · factor */
  l_rescaled?: Num[];
  /** acc for each of the two */
  acc_old?: Shaped[];
  /** acc_old · factor */
  acc_rescaled?: Shaped[];
  /** which of the two have no live key */
  empty?: boolean[];
  /** the same merge from finished outputs */
  by_lse?: {
    /** exp(lse_i − lse) */
    weights: Num[];
    /** top + log Σ exp(lse_i − top), top the larger */
    lse: Num;
    /** the sum of weight · output */
    output?: Shaped;
  };
  /** the same with the bases mixed up */
  mixed_bases?: {
    /** the weights that would come of it */
    weights: Num[];
    /** the wrong output */
    output?: Shaped;
  };
}

/** The partial results, and once all are merged the row's m, l, lse, acc and output. */
export interface MergeState {
  /** the scores of each part: from the first to before the second, as in Python */
  spans: number[][];
  /** which two results each merge takes */
  plan: number[][];
  /** every result made so far, in the order made: the workers', then the merges' */
  parts: {
    /** its highest score; -Infinity where no key is live */
    m: Num;
    /** its sum of exp(score − m) */
    l: Num;
    /** m + log l, natural logarithm */
    lse: Num;
    /** the same to base 2: lse / ln 2 */
    lse2: Num;
    /** its sum of exp(score − m) · value */
    acc?: Shaped;
    /** acc / l */
    output?: Shaped;
    /** the step that made it */
    number: number;
    /** the parts in it, by number, from 1 */
    of: number[];
    /** its first score, from 0 */
    from: number;
    /** the score after its last */
    to: number;
    /** whether it is still to be merged */
    waiting: boolean;
    /** of a merge: what each of the two was multiplied by */
    factors?: Num[];
  }[];
  /** the float64 answer */
  reference: {
    /** highest score */
    m: Num;
    /** sum of exp(score − m) */
    l: Num;
    /** log of the sum of exp(score) */
    lse: Num;
    /** weighted average of the values */
    output?: Shaped;
  };
  /** of the row: its highest score */
  m?: Num;
  /** of the row: its sum of exp(score − m) */
  l?: Num;
  /** of the row: m + log l, natural logarithm */
  lse?: Num;
  /** the same to base 2 */
  lse2?: Num;
  /** of the row: its sum of exp(score − m) · value */
  acc?: Shaped;
  /** of the row: acc / l */
  output?: Shaped;
  /** the row from finished outputs */
  by_lse?: {
    /** of the row */
    lse: Num;
    /** of the row */
    output?: Shaped;
  };
  /** the row read by one worker */
  unsplit?: {
    /** its highest score; -Infinity where no key is live */
    m: Num;
    /** its sum of exp(score − m) */
    l: Num;
    /** m + log l, natural logarithm */
    lse: Num;
    /** the same to base 2: lse / ln 2 */
    lse2: Num;
    /** its sum of exp(score − m) · value */
    acc?: Shaped;
    /** acc / l */
    output?: Shaped;
    /** how far it is from float64 */
    error: {
      /** of l */
      l: {
        /** |result − exact| */
        absolute: Num;
        /** that over |exact| */
        relative: Num;
        /** that in units in the last place of the result's format */
        ulps: Num;
      };
      /** of lse */
      lse: {
        /** |result − exact| */
        absolute: Num;
        /** that over |exact| */
        relative: Num;
        /** that in units in the last place of the result's format */
        ulps: Num;
      };
      /** of the output */
      output?: {
        /** |result − exact| */
        absolute: Num;
        /** that over |exact| */
        relative: Num;
        /** that in units in the last place of the result's format */
        ulps: Num;
      };
    };
  };
  /** how far rounding carried the result */
  error?: {
    /** of l */
    l: {
      /** |result − exact| */
      absolute: Num;
      /** that over |exact| */
      relative: Num;
      /** that in units in the last place of the result's format */
      ulps: Num;
    };
    /** of lse */
    lse: {
      /** |result − exact| */
      absolute: Num;
      /** that over |exact| */
      relative: Num;
      /** that in units in the last place of the result's format */
      ulps: Num;
    };
    /** of the output */
    output?: {
      /** |result − exact| */
      absolute: Num;
      /** that over |exact| */
      relative: Num;
      /** that in units in the last place of the result's format */
      ulps: Num;
    };
  };
}

export type MergeSnapshot = Told<MergeEvent, MergeState>;

/** What the step just made moved. */
export interface TrafficEvent {
  /** what was done */
  kind: "start" | "scores" | "softmax" | "output" | "tile" | "normalise";
  /** numbers read in this step */
  reads?: number;
  /** numbers written in this step */
  writes?: number;
}

/** The two memories: what lies in the slow one, line by line, and what is on chip. */
export interface TrafficState {
  /** the arrays of this way in slow memory, by name; a line for each token: none, there, read, written or both */
  slow: Record<string, string[]>;
  /** ↓ beside an array that is read, ↑ beside one that is written */
  marks: Record<string, string>;
  /** the places on chip, by name */
  chip: Record<string, {
    /** whether what is there stays to the next step, passes or is dropped; empty where nothing is */
    is: string;
    /** which rows it has */
    rows: string;
  }>;
  /** numbers moved so far, both ways */
  moved: number;
  /** this step's traffic in words */
  said: {
    /** what is read */
    read: string;
    /** what is written */
    written: string;
  };
}

export type TrafficSnapshot = Told<TrafficEvent, TrafficState>;

export type Snapshot = PassesSnapshot | OnlineSnapshot | DivisionSnapshot | StandardSnapshot | TiledSnapshot | MergeSnapshot | TrafficSnapshot;

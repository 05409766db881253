// The events of a session. Written from docs/events.md by `cargo xtask events`: change that page, not this file.

/** A record with its place in the session. `Kind` is one of the records below, and `Body` what its table says. */
export interface RecordEnvelope<Kind extends string, Body> {
  /** The version of the envelope, now 1. */
  v: number;
  /** The id that the writer gave the record. */
  id: RecordId;
  /** The session the record belongs to. */
  session: SessionId;
  /** The record's number in the session, from 1, without gaps; the `id` of its server-sent event. */
  seq: number;
  /** The record's place among the records of one input, from 0, and how many they are. */
  batch: [number, number];
  /** The hash of the batch before; all zero for the first. */
  prev: Hash;
  /** Counts the writers of the session: the lease under which it was written. */
  epoch: number;
  /** The run it belongs to. */
  run?: RunId;
  /** The turn it belongs to. */
  turn?: TurnId;
  /** When the input that caused the record arrived. */
  at: Timestamp;
  /** What happened. */
  kind: Kind;
  /** The details. */
  body: Body;
}

/** A delta with its place in a turn. `Kind` is one of the deltas below, and `Body` what its table says. */
export interface DeltaEnvelope<Kind extends string, Body> {
  /** The run it belongs to. */
  run: RunId;
  /** The turn it belongs to. */
  turn: TurnId;
  /** The attempt it belongs to, from 1; 0 where it belongs to none. */
  attempt: number;
  /** How many bytes of the same stream came before it in the attempt. */
  offset: number;
  /** What it is a fragment of. */
  kind: Kind;
  /** The fragment. */
  body: Body;
}

/** The first record of every session. */
export interface SessionOpened {
  /** The user it belongs to. */
  owner: string;
  /** What a person types after `--session`; unique per owner. */
  key: string;
  /** The folder its tools work in. */
  workspace?: string;
  /** The session and call that spawned it. */
  parent?: [SessionId, CallId];
  /** The version of Windlass that opened it. */
  version: string;
  /** The sessions whose records a fork starts with, oldest first; the last one is the session it was forked from. */
  forked_from?: Origin[];
}

/** Something about the session as a whole changed. What is absent is unchanged. */
export interface SessionChanged {
  /** A title for people. */
  title?: string;
  /** A new key. */
  key?: string;
  /** The session was imported: the records before this one grant no authority here. */
  imported?: ImportDetails;
  /** Whether it is listed before the others and kept from clean-up. */
  pinned?: boolean;
  /** Whether it is left out of the list. */
  archived?: boolean;
  /** Whether the conversation so far is summarised before the next run answers. */
  compact?: boolean;
}

/** A writer took ownership of the session. Every later write of an earlier writer conflicts. */
export interface LeaseTaken {
  /** Counts the lease takings, from 1. */
  epoch: number;
  /** The holder's name, for people. */
  holder: string;
}

/** A message was accepted from the inbox. */
export interface MessageAccepted {
  /** The sender's id for it. */
  message_id: MessageId;
  /** The text of the message. */
  text: string;
  /** The files attached to it. */
  attachments?: Attachment[];
}

/** A run began: one request, until its `RunEnded`. */
export interface RunStarted {
  /** Its number in the session. */
  run: RunId;
  /** The full policy it runs under. */
  policy: Policy;
  /** The agent's name. */
  agent: string;
  /** The models to try, in order. */
  chain: ModelName[];
  /** The time by which it must end. */
  deadline?: Timestamp;
  /** Whether a person can be asked. */
  attendance: Attendance;
  /** The failed run that this run retries. */
  retry_of?: RunId;
  /** The form its answer must have, where plain text is not enough. */
  output?: OutputSpec;
  /** The server that all its models were called at, in records from before each model named its own. */
  server?: string;
  /** What is known of the models of the chain and of the role chains. */
  models?: RunModel[];
  /** The models to try in other roles than the turn's, in order, by `ModelRole`; a role that is absent uses `chain`. */
  role_chains?: { [role: string]: ModelName[] };
  /** Set when the person asked for a summary of the conversation so far: it is written before the first turn. */
  compact?: boolean;
  /** When it began, where the policy limits its time. */
  began?: Timestamp;
  /** What all sessions had spent before it on the same day, where the policy limits the day. */
  spent_today?: Spending;
  /** What all sessions of the agent had spent before it on the same day, where the policy limits the agent. */
  spent_by_agent?: Spending;
  /** The session's own system prompt from this run on. Absent means the one of an earlier run of the session, or that it has none. */
  system?: string;
}

/** A process resumed a run that another process left unfinished. */
export interface RunResumed {
  /** Whether a person can be asked now. */
  attendance: Attendance;
  /** A new deadline, where the caller gave one. */
  deadline?: Timestamp;
  /** Approval questions that were open and are now void: their calls are checked again, by the permission rules of this process. Absent in records of older versions, where such questions stayed open. */
  withdrawn?: QuestionId[];
}

/** The context that a run sends before the conversation was fixed: system text and offered tools. */
export interface ContextPinned {
  /** The new context; absent when it is the same as in the previous run. */
  context?: PinnedContext;
  /** Servers whose tools were added to the offer of the open run with this record; once per server and run. */
  joined?: string[];
  /** What the workspace held, where the policy shows that to the model before the request. */
  overview?: WorkspaceOverview;
}

/** A turn began: a model call must follow. */
export interface TurnStarted {
  /** Its number in the run. */
  turn: TurnId;
  /** Its purpose. */
  mode: TurnMode;
  /** What fills the context window; absent in records from before this was measured. */
  budget?: ContextBudget;
  /** With the mode `summary`: what is to be summarised. */
  summary?: SummaryTask;
}

/** A model call failed; `next` says what follows. */
export interface AttemptFailed {
  /** The attempt's number in the turn, from 1. */
  attempt: number;
  /** The model called. */
  model: ModelName;
  /** What happened. */
  failure: Failure;
  /** What follows. */
  next: NextAttempt;
  /** The tokens charged for it. */
  usage?: Usage;
  /** What the model was called for. A failed call for a summary has the role `turn`, as before there were others. */
  role?: ModelRole;
}

/** A model answered; this is the whole reply, and takes the place of what was streamed. */
export interface ModelReplied {
  /** The attempt that succeeded, from 1. */
  attempt: number;
  /** The model that answered, as named in the configuration. */
  model: ModelName;
  /** The reply. It has calls by index only; each has a `CallRequested` in the same batch. */
  parts: Part[];
  /** Why the model stopped. */
  stop: StopReason;
  /** The tokens used. */
  usage: Usage;
  /** What they cost, where the model's prices are known. */
  cost?: NanoMoney;
  /** Set when a stop cut the reply short. */
  partial?: boolean;
  /** Why the reply does not fit the requested output. */
  misfit?: string;
  /** The message to the model about a call in the reply that could not be parsed. */
  malformed?: string;
  /** What the model was called for; only replies in the roles `turn` and `synthesis` enter the history. */
  role?: ModelRole;
  /** Whether the request was read from the provider's cache; absent where nothing is known of one. */
  cache?: CacheReport;
  /** How much of the request the server read, where it did not read all of it. */
  cut?: CutInput;
  /** The estimated tokens of the passages that were sent for this turn only. */
  retrieved?: number;
  /** With the role `router`: whether the run offers tools. A reply that does not say so clearly means `agent`. */
  intent?: Intent;
}

/** The model asked for a call, and it was decided whether that may run. If not, its `CallFinished` follows in the same batch. */
export interface CallRequested {
  /** Its id. */
  call: CallId;
  /** The provider's id for it. */
  provider_id?: string;
  /** The name as the model wrote it. */
  name: string;
  /** The tool that the name was resolved to. */
  tool?: ToolName;
  /** The arguments, an object. */
  arguments: Json;
  /** The arguments as the model wrote them, where they differ. */
  raw?: string;
  /** The repairs made to the call. */
  repairs?: Repair[];
  /** What running the call twice would mean. */
  effect: EffectClass;
  /** The idempotency key of the call's effect, for external systems. */
  effect_id: EffectId;
  /** Set for loop-ending tools. */
  ending?: Ending;
  /** Whether the call is exempt from progress guards. */
  repeatable?: boolean;
  /** Set for built-in tools that only display what is in the workspace. */
  reads_files?: boolean;
  /** Whether the call may run. */
  verdict: Verdict;
  /** What a person sees when asked about the call. */
  preview?: Preview;
  /** Which files are saved before the call. */
  snapshot?: SnapshotKind;
  /** What decided the verdict. */
  because?: VerdictReason;
}

/** The call may have started. Stored before the tool is started. */
export interface CallStarted {
  /** The call. */
  call: CallId;
  /** The arguments it runs with, where a person edited them. */
  arguments?: Json;
}

/** The files that a call may change, as they were before it. The call does not start before this is stored. */
export interface SnapshotTaken {
  /** The call that follows. */
  call: CallId;
  /** How much was saved. */
  coverage: Coverage;
  /** The earlier snapshot to which this one holds only the differences. */
  since?: CallId;
  /** The state of each path. */
  files?: { [path: string]: FileState };
}

/** The call can't continue before the person has answered; it is run again with the answers. */
export interface CallPaused {
  /** The call. */
  call: CallId;
  /** State that must be handed back to the tool. */
  state: Json;
  /** The requests to the person. */
  asks: Elicitation[];
}

/** It was decided how to settle a call that a crash interrupted. */
export interface CallSettled {
  /** The call. */
  call: CallId;
  /** The decision. */
  settlement: Settlement;
}

/** A call finished; this is its result. */
export interface CallFinished {
  /** The call. */
  call: CallId;
  /** The outcome of the call. */
  outcome: OutcomeKind;
  /** The text the model sees. */
  text: string;
  /** What was left out of the text. */
  cut?: Cut;
  /** How long the call took, in milliseconds. */
  took_ms: number;
  /** The earlier call with the same result; the text then only refers to it. Older versions repeated the text. */
  answered_from?: CallId;
  /** Structured content beside the text. */
  structured?: Json;
  /** The images of the result. In records from before this field they are in `structured`, and no model sees them. */
  images?: ImageRef[];
  /** How the command ended, where the call ran one and observed its end; absent in records from before this field. */
  exit?: CommandExit;
  /** Where the text came from, if from outside; absent in records from before this field. */
  origin?: TextOrigin;
  /** What a person could change so that such a call would run; in records from before this field the text says it. */
  remedy?: Remedy;
}

/** The changes a call made to files. Stored beside its result, or alone where the call was stopped. */
export interface FilesChanged {
  /** The call. */
  call: CallId;
  /** The change of each path. */
  changes: { [path: string]: Change };
  /** What else may have changed undetected. */
  unseen?: string;
  /** Files that the call changed or deleted unasked, and that were restored; `changes` does not hold them. */
  restored?: string[];
  /** Files that the call changed or deleted unasked, and that could not be restored: what became of them, and why. */
  lost?: { [path: string]: string };
}

/** A person was asked a question; the run waits until it is answered or expires. */
export interface QuestionAsked {
  /** The question's number in the session. */
  question: QuestionId;
  /** The subject of the question. */
  kind: QuestionKind;
  /** What is displayed to the person. */
  preview?: Preview;
  /** The offered answers. */
  options: QuestionOption[];
  /** When the question expires and the default is taken; absent means never. */
  expires?: Timestamp;
  /** The answer that is taken when the question expires. */
  default: QuestionOption;
  /** The tool's request, where a tool asks. */
  elicitation?: Elicitation;
  /** Why approval is needed, where that was decided right before the call was to run; absent means for the reason that the call was recorded with. */
  because?: VerdictReason;
}

/** A question was answered. */
export interface QuestionAnswered {
  /** The question. */
  question: QuestionId;
  /** The answer. */
  answer: Answer;
  /** Who answered. */
  by: AnsweredBy;
  /** The rule that the answer allows from now on in this session. */
  grant?: Grant;
}

/** Windlass sent the model a message so that it continues. */
export interface Nudged {
  /** The cause. */
  why: NudgeCause;
  /** What was observed. */
  evidence?: string;
  /** The text sent to the model. */
  text: string;
  /** What the judge found wrong with the reply, the most important first. A reply without calls is then no longer sent, and the text is sent for one turn only. Empty for all other nudges, and in records from before the judge. */
  faults?: ReplyFault[];
}

/** A tool is withheld: refused for the rest of the run. */
export interface ToolWithheld {
  /** The cause. */
  cause: WithheldFor;
  /** The tool. */
  tool: ToolName;
  /** The explanation for the model. */
  reason: string;
}

/** The plan changed; this is the whole new plan. */
export interface PlanChanged {
  /** The steps. */
  items: PlanItem[];
}

/** A child session may have been started for a step of the plan. */
export interface ChildSpawned {
  /** Its position: the run and turn that made the plan, and its number among the children of that plan. With the session's id this is the child's key, so that it is started once. */
  child: CallId;
  /** The step it carries out, from 0. */
  step: number;
}

/** A child session has ended its run. */
export interface ChildReported {
  /** Its position, see `ChildSpawned`. */
  child: CallId;
  /** Its session, unless it could not be opened. */
  session?: SessionId;
  /** How its run ended. */
  reason: EndReason;
  /** Its answer, shortened; its own journal has all of it. */
  answer: string;
  /** The files it changed. */
  changed?: string[];
  /** Where text came from that it was shown and nobody has checked, each once: its answer may repeat it. */
  origins?: TextOrigin[];
  /** The tokens it used. */
  usage: Usage;
  /** What it spent; this counts against the limits of the run that started it. */
  spent: Spending;
}

/** The history that is sent to the model was shortened. The journal keeps everything. */
export interface Compacted {
  /** Counts the compactions of a session, from 1. */
  epoch: number;
  /** How it was shortened. */
  method: CompactionMethod;
  /** How many messages, counted from the session's first, are no longer sent. */
  through: number;
  /** With `shrunk`: how many characters of each older result are kept. Absent where no result is cut: only the images are left out, because the model's server refused one. */
  result_chars?: number;
  /** With `shrunk`: messages from this one on, counted like `through`, keep their results whole. Absent where all results are cut. */
  whole_from?: number;
  /** The summary of what is no longer sent. */
  summary?: string;
  /** What was rebuilt from the records: requests, plan, calls that changed something, files touched. */
  notes?: string;
}

/** Somebody asked for a stop. */
export interface CancelAsked {
  /** Who asked. */
  by: StopBy;
}

/** An undo of files started. It holds their states before the undo, so that the undo can be undone as well. */
export interface UndoStarted {
  /** The undo's number in the session. */
  undo: UndoId;
  /** What it undoes. */
  of: Undoable;
  /** The tool, where it undoes a call. */
  tool?: ToolName;
  /** The present and the restored state of each path. */
  changes: { [path: string]: Change };
  /** Paths that can't be restored, and why. */
  unable?: { [path: string]: string };
}

/** The undo finished. */
export interface Undone {
  /** The undo. */
  undo: UndoId;
  /** Paths that were left as they are, and why. */
  left_alone?: { [path: string]: string };
  /** The message to the model. */
  told: string;
}

/** A run ended. Only this record ends a run. */
export interface RunEnded {
  /** Why it ended. */
  reason: EndReason;
  /** The answer for the person. */
  answer: string;
  /** What went wrong, where the run failed. */
  failure?: Failure;
  /** The tools that were called. */
  tools?: ToolName[];
  /** The turns it took. */
  turns: number;
  /** The requested output, as found in the answer; it fits the schema. */
  output?: Json;
  /** Set when the length limit cut off the last reply: the answer is incomplete. */
  cut_off?: boolean;
  /** Messages that had joined the run and that no model has seen: the person's stop dropped them. */
  dropped?: MessageId[];
  /** The tokens used. */
  usage: Usage;
  /** What they cost, where a price of the run's models is known. */
  cost?: NanoMoney;
  /** Set when a model is to write a title for the session now. */
  wants_title?: boolean;
  /** What the run really did, by its records; absent where there is nothing to say, and in records from before this field. */
  changes?: RunChanges;
}

/** Text of the answer. */
export interface TextDelta {
  /** The text. */
  text: string;
}

/** The model starts to think, for the first time in the attempt or again; `offset` counts the thinking so far. Its body is empty. */
export type ThinkingStarted = Record<string, never>;

/** The model stops thinking; text or calls follow. Sent at the end of the attempt at the latest. Its body is empty. */
export type ThinkingEnded = Record<string, never>;

/** Text of the reasoning, between a start and an end. */
export interface ThinkingDelta {
  /** The text. */
  text: string;
}

/** Arguments of a call while the model writes them; with `attempt` 0, output of a call while it runs. */
export interface CallDelta {
  /** The call. */
  call: CallId;
  /** The tool's name as the model wrote it; only in the first fragment. */
  name?: string;
  /** The fragment. */
  text: string;
}

/** Discard what this attempt has displayed: another attempt replaces it. Its body is empty. */
export type Cleared = Record<string, never>;

/** The run or a call waits for a tool server. */
export interface Waiting {
  /** The call that waits; absent where the run itself waits. */
  call?: CallId;
  /** What it waits for. */
  for: WaitFor;
  /** The longest wait, in milliseconds. */
  limit_ms: number;
}

/** A source of passages failed or took too long and is left out of this turn; said once in a run. */
export interface SourceLeftOut {
  /** The source. */
  source: string;
  /** Why. */
  why: string;
}

/** A session: a UUID. */
export type SessionId = string;

/** The n-th run of a session, from 1. */
export type RunId = number;

/** The n-th turn of a run, from 1; 0 before the first. */
export type TurnId = number;

/** A tool call, `run.turn.index`: `"3.2.0"` is the first call of the second turn of the third run. */
export type CallId = string;

/** The n-th question of a session, from 1. */
export type QuestionId = number;

/** The n-th undo of a session, from 1; people write it `u3`. */
export type UndoId = number;

/** The id that the writer gave a record. */
export type RecordId = string;

/** The id that the sender gave a message; a session accepts the same id only once. */
export type MessageId = string;

/** The idempotency key of a call's effect: the same for every try of the call. */
export type EffectId = string;

/** A model's name in the configuration. */
export type ModelName = string;

/** A tool's name, `server.tool`; the server of built-in tools is `local`. */
export type ToolName = string;

/** A time in UTC with milliseconds: `"2026-11-15T03:00:01.499Z"`. */
export type Timestamp = string;

/** A BLAKE3 hash, as 64 hex digits; of a blob, the name under which its content is kept. */
export type Hash = string;

/** A permission for the session: a rule such as `run_command(cargo *)`. */
export type Grant = string;

/** Money, in billionths of a US dollar. */
export type NanoMoney = number;

/** An amount of US dollars in decimals: `"0.50"`. */
export type Dollars = string;

/** Any JSON value, as it was written: the arguments of a call, a schema. */
export type Json = unknown;

/** The answer to a question. */
export interface Answer {
  /** The chosen option. */
  option: QuestionOption;
  /** With `edit`: the new arguments. With `submit`: the content of the form. With `once` to a limit: what it is raised to, as a number in its unit, where the person chose another value than the question names. */
  arguments?: Json;
  /** With `no` to a call: the person's reason, for the model. */
  reason?: string;
}

/** Who answered. */
export type AnsweredBy =
  /** A person. */
  | "person"
  /** The question expired; the default was taken. */
  | "expiry";

/** A file that a person attached to a message. */
export type Attachment =
  /** An image. */
  | { kind: "image"; name?: string; media_type: string; bytes: number; width: number; height: number; blob: Hash }
  /** A file that is sent as text. */
  | { kind: "text"; name: string; media_type: string; bytes: number; text: string; cut?: Cut; origin?: TextOrigin };

/** Whether a person is available to answer a question now. */
export type Attendance =
  /** A person can answer. */
  | "attended"
  /** Nobody can answer; questions take their default at once. */
  | "unattended";

/** Why a request, or a part of it, was not read from the cache. */
export type CacheMissCause =
  /** It was the session's first. */
  | "first_request"
  /** The session's earlier requests went to another model. */
  | "model_switched"
  /** Older turns were left out, shortened or summarised since. */
  | "compaction"
  /** Other tools were offered. */
  | "offer_changed"
  /** The text before the conversation changed. */
  | "prefix_changed"
  /** The model was no longer allowed to call tools, or allowed again: some providers keep these apart. */
  | "tool_choice_changed"
  /** The pause since the last request was longer than the provider keeps what it has read. */
  | "expired"
  /** The earlier request was too short to be kept. */
  | "too_short"
  /** Nothing that is known. */
  | "unknown";

/** How a request stands to the prompt cache of its provider. It is a part of the reply's record, and decided from earlier ones. */
export interface CacheReport {
  /** When the reply came: the pause before the next request is counted from here. */
  at: Timestamp;
  /** Whether it was read from the cache. */
  result: CacheResult;
  /** How many tokens an earlier request had sent in the same words, and could have been read from the cache. */
  expected: number;
  /** Of those, how many were not. */
  missed?: number;
  /** Why they were not, where some were missed or nothing was expected. */
  why?: CacheMissCause;
  /** What the missed tokens cost above the price of tokens that are read from the cache, where prices are known. */
  cost?: NanoMoney;
}

/** Whether a request was read from the cache. */
export type CacheResult =
  /** All that could be. */
  | "hit"
  /** A part of it. */
  | "partial"
  /** Nothing. */
  | "missed"
  /** The provider gave no counts. */
  | "not_reported";

/** The states of a path before and after. */
export interface Change {
  /** State before. */
  was: FileState;
  /** State after. */
  now: FileState;
}

/** How a command ended, as its parent process observed it. */
export type CommandExit =
  /** It exited with this code; 0 is success. */
  | { code: number }
  /** This signal killed it. */
  | { signal: number };

/** How the history was shortened. */
export type CompactionMethod =
  /** The oldest turns were dropped from what is sent. */
  | "pruned"
  /** Long results that are still sent were cut, and images left out. */
  | "shrunk"
  /** A model's summary took the place of the oldest turns. */
  | "summarised"
  /** A plain summary, made from the records, took the place of the oldest turns: no model wrote one. */
  | "plain"
  /** The last compaction was undone: what it left out is sent again. */
  | "restored";

/** The parts of a request, in tokens, and what they leave of the window. */
export interface ContextBudget {
  /** The window of the model that the turn calls first, where it is known. */
  window?: number;
  /** The system text. */
  prefix: number;
  /** The definitions of the offered tools, as they are sent. */
  tools: number;
  /** The conversation, and the lines for this turn only. */
  history: number;
  /** Set aside for passages that are found for this turn only: the most they may take. */
  retrieved?: number;
  /** Kept free for the reply. */
  reserve: number;
  /** Kept free because counts are estimates. */
  safety: number;
  /** What is left of the window; absent where the window is unknown. */
  remaining?: number;
}

/** How much of what a call may change was saved. */
export type Coverage =
  /** All of it. */
  | { is: "full" }
  /** Some of it; `left_out` says what was not, and why. */
  | { is: "partial"; left_out: string }
  /** None of it. */
  | { is: "none"; why: string };

/** What was left out of a text, and where to read the rest. */
export interface Cut {
  /** Length of the whole text, in characters. */
  total_chars: number;
  /** Length of the part the model sees, in characters. */
  shown_chars: number;
  /** The blob with the whole text; the model reads it in parts as `call:ID`. */
  blob?: Hash;
}

/** How much of a request a server read. The rest, usually its beginning, was silently left out. */
export interface CutInput {
  /** The tokens of the request, by our count. */
  counted: number;
  /** The tokens that the server reported. */
  read: number;
  /** The server's software, where it is known: what mends the cut depends on it. */
  software?: ModelSoftware;
}

/** A syntax in which a model writes calls. */
export type Dialect =
  /** The wire's own call format. */
  | "native"
  /** `<tool>` blocks. */
  | "tool_block"
  /** `[server.tool(k="v")]`. */
  | "bracket"
  /** "Tool:/Arguments:" lines. */
  | "lines"
  /** Detected at run time: a reply that consists of one call in any dialect counts as that call, and where the server does not support native calls the run continues with `<tool>` blocks. */
  | "probe"
  /** JSON without tags, or in the tags that small models put round it: `{"name": …, "arguments": …}`. */
  | "bare_json"
  /** `<tool name="…">` with an element for each argument, explained in few words: for small models. */
  | "tool_tag"
  /** A fenced block of Python or shell, which is run as a command; for small models. */
  | "script";

/** What running a tool twice would mean. Decides what happens to a call that a crash interrupted. */
export type EffectClass =
  /** Changes nothing. */
  | "read_only"
  /** Running it twice has the same effect as once. */
  | "idempotent"
  /** Can't be repeated blindly, but the tool can report whether the effect took place. */
  | "verifiable"
  /** Anything else. */
  | "once";

/** A request that only the person can answer or carry out. */
export interface Elicitation {
  /** The tool's own id for the request. */
  key: string;
  /** The server that asks. */
  from: string;
  /** The text of the request. */
  message: string;
  /** What kind of answer it wants. */
  wants: ElicitationKind;
}

/** What an elicitation wants. */
export type ElicitationKind =
  /** The person fills in a form; its content comes back with the answer. */
  | { form: { schema: Json } }
  /** The person visits a page, outside of Windlass. */
  | { visit: { url: string } };

/** Why a run is over. */
export type EndReason =
  /** The job is done. */
  | "completed"
  /** The agent asked the person something. */
  | "asked"
  /** Plain conversation. */
  | "conversed"
  /** The answer lists what is not done. */
  | "unfinished"
  /** A person or a deadline stopped it. */
  | "cancelled"
  /** Too many turns. */
  | "turn_cap"
  /** The budget is spent. */
  | "budget_spent"
  /** The run could not continue. */
  | "failed";

/** How a successful call of a loop-ending tool ends the run. */
export type Ending =
  /** The job is done. */
  | "completed"
  /** The agent asks the person something; the run ends. */
  | "asked"
  /** Plain conversation. */
  | "conversed";

/** A failure to report to a person. */
export interface Failure {
  /** What it means for the run. */
  class: FailureClass;
  /** What happened, in a sentence or two. It names no flag or file that would fix it: the user interface adds that. */
  message: string;
  /** How long the server asked us to wait, in milliseconds. */
  retry_after_ms?: number;
  /** The HTTP status, where there was one. */
  status?: number;
  /** Whether any part of the reply had arrived. */
  first_byte?: boolean;
  /** Whether the server reports that it supports no tools for this model. */
  no_tools?: boolean;
  /** Whether the server reports that it does not accept the form in which an output was asked for. */
  output_refused?: boolean;
  /** Whether the server reports that it has no such model. */
  no_model?: boolean;
  /** Whether the address is on this machine and nothing listens there: the server is not running. */
  not_running?: boolean;
  /** The cause, where more is known than the class. */
  cause?: FailureCause;
  /** Set when the model was not called because other runs have spent what a shared limit allows: what they have spent by now. */
  spent_elsewhere?: SpentElsewhere;
}

/** What is known of the cause of a failure, where it is not what the class says. */
export type FailureCause =
  /** Something else than the expected server is at the address. */
  | "wrong_address"
  /** Nothing answers at the address. */
  | "unreachable"
  /** The server's certificate is signed by an authority that this machine does not trust. */
  | "untrusted_certificate"
  /** The model was not called: it has failed repeatedly a moment ago, and another model of the chain could be called instead. */
  | "not_called"
  /** The server refused the request because of an image in it. */
  | "image_refused";

/** Classes of failure, by what they mean for the run. */
export type FailureClass =
  /** Temporary: rate limit, overload, lost connection, timeout. Worth a retry. */
  | "transient"
  /** The account has nothing left to spend. */
  | "quota"
  /** The key is missing or refused. */
  | "auth"
  /** The request can't succeed as it is: unknown model, wrong parameter. */
  | "bad_request"
  /** The request is longer than the model's window. */
  | "overflow"
  /** The provider withheld the answer. */
  | "filtered"
  /** The answer was unreadable: not JSON, not the expected wire format, or over a limit. */
  | "protocol"
  /** The journal could not be written or read. */
  | "store"
  /** A bug in Windlass. */
  | "internal";

/** The state of a path. */
export type FileState =
  /** Nothing exists there. */
  | { is: "absent" }
  /** A file with this content and these permissions. */
  | { is: "file"; blob: Hash; mode: number; inode?: number }
  /** A symbolic link. */
  | { is: "link"; target: string; inode?: number }
  /** A folder. */
  | { is: "folder"; mode: number; inode?: number }
  /** Something whose content is not saved: too large, containing a secret, or not a regular file. `modified` is in nanoseconds. */
  | { is: "unkept"; size: number; modified: number; inode: number };

/** An image, by reference. */
export interface ImageRef {
  /** The name of its file; empty where it has none. */
  name?: string;
  /** Its media type, e.g. `image/png`, as its first bytes say. */
  media_type: string;
  /** The size of its file. */
  bytes: number;
  /** Its width in pixels; 0 where it is unknown. */
  width: number;
  /** Its height in pixels; 0 where it is unknown. */
  height: number;
  /** The blob with its content. */
  blob: Hash;
}

/** How a session was imported. */
export interface ImportDetails {
  /** The folder its tools work in from now on. */
  workspace?: string;
  /** The user it belongs to from now on. Absent in records of versions that left it with the owner its file names. */
  owner?: string;
}

/** Whether a request is answered with tools. */
export type Intent =
  /** It can be answered at once: no tool definitions are sent. */
  | "direct"
  /** It may need tools. */
  | "agent";

/** The prices in a seller's list, in US dollars. */
export interface ListPrices {
  /** The usual prices. */
  usual: Prices;
  /** Prices of calls with a long input, where they differ. */
  long?: LongInputPrices;
}

/** Prices of calls with a long input. All tokens of such a call are charged at them. */
export interface LongInputPrices {
  /** Calls that send more tokens than this are charged so. */
  above: number;
  /** The prices. */
  prices: Prices;
}

/** A change that was asked for and that the records do not show: what the answer says about it. */
export type MissingChange =
  /** It says that something was changed. */
  | "claimed"
  /** It claims no change. */
  | "not_done";

/** The purpose of a model call. Every role uses the same retries, chain, usage, cost and journal. */
export type ModelRole =
  /** Left out, as the default. A turn of the loop. */
  | "turn"
  /** A summary of the part of the conversation that will no longer be sent. */
  | "summary"
  /** A title for the session. */
  | "title"
  /** Whether a request needs tools at all. */
  | "router"
  /** The steps of a plan. */
  | "planner"
  /** One step of a plan. */
  | "step"
  /** The answer made from the steps' results. */
  | "synthesis"
  /** Whether a reply is complete; not used yet. */
  | "judge";

/** A program that serves models. */
export type ModelSoftware =
  /** Ollama. */
  | "ollama"
  /** The server of llama.cpp. */
  | "llama_cpp"
  /** LM Studio. */
  | "lm_studio"
  /** vLLM. */
  | "vllm";

/** A file that was moved. */
export interface MovedPath {
  /** Its path before. */
  from: string;
  /** Its path since. */
  to: string;
}

/** What follows a failed attempt. */
export type NextAttempt =
  /** Retry the same call, not before `at`. */
  | { do: "retry"; at: Timestamp }
  /** Call the next model of the chain. */
  | { do: "model"; model: ModelName }
  /** Call once without streaming, at once. */
  | { do: "whole" }
  /** Call again with a shorter history (a `Compacted` follows, or a turn that writes a summary). */
  | { do: "shorter" }
  /** Call again, with tool calls written as text (a `ContextPinned` follows). */
  | { do: "dialect"; dialect: Dialect }
  /** Call again, with the output asked for in another form. */
  | { do: "output"; form: OutputForm }
  /** No further attempt to get a summary from a model: a plain one takes its place (a `Compacted` follows). */
  | { do: "plain_summary" }
  /** No further attempt: the run ends; without a planner's reply it goes on without a plan, and without a router's with tools. */
  | { do: "end" };

/** A reason to send the model a message so that it continues. */
export type Nudge =
  /** The reply had no text and no call. */
  | "empty"
  /** The reply was cut off by length. */
  | "cut_off"
  /** Something that was asked for is not done. */
  | "incomplete"
  /** The reply hands the work back. */
  | "deflection"
  /** The reply had no call where one is needed. */
  | "no_tool_call";

/** Why a nudge was given. */
export type NudgeCause =
  /** The judge's verdict on the reply. */
  | { reply: Nudge }
  /** Consecutive turns with nothing but errors. */
  | "error_turns"
  /** A repeating sequence of calls. */
  | "cycle"
  /** The run reached the turn cap: the model must wrap up. */
  | "turn_cap"
  /** Consecutive empty replies: the model must summarise. */
  | "summarise"
  /** A person decided to stop a model that repeats itself: it must wrap up. */
  | "halt"
  /** The answer does not fit the requested output. */
  | "misfit"
  /** Tools were withheld: the text names them, the reason, and the remaining tools. */
  | "withheld"
  /** The context window is full and nothing more can be left out: the model must wrap up. */
  | "context_full"
  /** The plan can't be carried out to its end: the model goes on by itself, and is told which steps are done. */
  | "plan_left";

/** A session from which a fork copied records: those up to `seq`, after the `seq` of the previous origin. */
export interface Origin {
  /** The session. */
  session: SessionId;
  /** The last copied record. */
  seq: number;
}

/** The outcome of a call. */
export type OutcomeKind =
  /** The tool worked. A command's non-zero exit is `ok` too: a result, not a failure; see `CommandExit`. */
  | "ok"
  /** The tool reports an error. */
  | "tool_error"
  /** Something the arguments name does not exist: a file, or a text in a file. The model can correct that by itself. */
  | "not_found"
  /** The tool could not be called or crashed. */
  | "infrastructure_error"
  /** There is no such tool. */
  | "unknown"
  /** The arguments don't fit the schema. */
  | "invalid_arguments"
  /** A rule or a person forbade it. */
  | "denied"
  /** The run was stopped, or another call of the same reply ended it. */
  | "cancelled"
  /** It exceeded its timeout. */
  | "timed_out"
  /** A crash interrupted it; whether it took effect is unknown. */
  | "interrupted";

/** How a model is asked for an output, the most certain form first. The instructions hold the schema in any case. */
export type OutputForm =
  /** The server holds the answer to the schema. */
  | "schema"
  /** The answer is the arguments of a call to a tool that is offered for it. */
  | "tool"
  /** Only the instructions ask for it. */
  | "prompt";

/** The required form of an output. Stored with the run that must produce it. */
export interface OutputSpec {
  /** Its name: letters, digits, `_` and `-`, at most 64. */
  name: string;
  /** Its JSON Schema. */
  schema: Json;
}

/** A file of the workspace. */
export interface OverviewFile {
  /** Its path, relative to the workspace. */
  path: string;
  /** Its length in bytes. */
  size: number;
  /** Its text, where the request names it or the whole workspace is small. */
  text?: string;
  /** Where its text came from, if nobody has checked it. */
  origin?: TextOrigin;
}

/** A part of a model's reply. */
export type Part =
  /** Text for the person. */
  | { type: "text"; text: string }
  /** Reasoning; displayed as thinking, never as the answer. Its text is empty where the provider hides it. */
  | { type: "thinking"; text: string; signature?: string }
  /** A call the model asked for: the `index`-th of the reply, from 0. Its details are in the `CallRequested` of the same batch. */
  | { type: "call"; index: number }
  /** An item that only the model that made it understands, such as encrypted reasoning. It is returned unchanged to that model, and is never shown. */
  | { type: "opaque"; item: Json };

/** The prefix and the offered tools, as they are sent. */
export interface PinnedContext {
  /** The static prefix: the system text. */
  prefix: string;
  /** The tools offered. */
  offer: ToolSpec[];
  /** The dialect that the prefix explains and every model of the run writes calls in; absent means the wire's own. */
  dialect?: Dialect;
  /** Servers that were being connected for the first time, so that none of their tools is offered yet. */
  awaited?: string[];
  /** The models that write calls as text, where the others use the wire's own format. Absent means that `dialect` holds for every model of the run. */
  text_calls?: TextCalls;
  /** The same for further dialects, where the models of the run write calls in several. */
  further_text_calls?: TextCalls[];
  /** How many tools the offer leaves out because others fit the request better; the model can look for them. */
  left_out?: number;
}

/** A step of the plan. */
export interface PlanItem {
  /** What is to be done. */
  step: string;
  /** Its progress. */
  status: PlanStatus;
  /** The file it is about, where the loop made it for each of several files. */
  file?: string;
}

/** The progress of a step. */
export type PlanStatus =
  /** Not started. */
  | "open"
  /** In progress. */
  | "doing"
  /** Done. */
  | "done"
  /** Given up: the child sessions that tried it did not finish it. */
  | "failed";

/** What is displayed to the person: a command line, a diff, the arguments. */
export interface Preview {
  /** The first line. */
  title: string;
  /** Details, possibly several lines; may be empty. */
  body?: string;
  /** The rule that would allow this kind of call, e.g. `run_command(cargo *)`. */
  rule?: string;
}

/** Prices for a million tokens. Integers, so that sums are exact. */
export interface Prices {
  /** For tokens sent. */
  input: NanoMoney;
  /** For tokens received, reasoning included. */
  output: NanoMoney;
  /** For tokens sent that the provider read from its cache; absent where they cost the same as others. */
  cached?: NanoMoney;
  /** For tokens sent that the provider wrote to its cache; absent where they cost the same as others. */
  cache_written?: NanoMoney;
}

/** What is known of the prompt cache of a model's provider. */
export interface PromptCache {
  /** How long what was sent is kept without being used again, in milliseconds; absent where nobody says. */
  keeps_ms?: number;
  /** Requests with fewer tokens than this are not kept. */
  least_tokens: number;
  /** Set when the provider counts what it writes to its cache: then nothing else can be read from it. */
  counts_writes?: boolean;
}

/** The subject of a question. */
export type QuestionKind =
  /** Whether this call may run. */
  | { about: "approval"; call: CallId }
  /** What to do with this call: a crash interrupted it and it can't be repeated blindly. */
  | { about: "settlement"; call: CallId }
  /** A tool needs an answer or an action of the person before it can continue. */
  | { about: "elicitation"; call: CallId }
  /** A question that a child session asks, which carries out a step of the plan: `child` as in `ChildSpawned`, the `step` from 0, the number of the `question` in the child session, and what it is about; ids in `subject` are the child's own. The answer is passed on to it. */
  | { about: "step"; child: CallId; step: number; question: QuestionId; subject: QuestionKind }
  /** Whether to continue, although the model repeats the same calls. */
  | { about: "cycle" }
  /** Whether to try once more, although the run was resumed repeatedly without progress. */
  | { about: "stuck" }
  /** Whether to spend more, although the next model call would exceed a `limit`; with a yes it is `raised_to` this, in its unit. `turn` is the purpose of the turn that would begin; absent where a turn has begun and its next attempt waits. */
  | { about: "purse"; limit: SpendingLimit; raised_to: number; turn?: TurnMode };

/** An answer that a question offers. */
export type QuestionOption =
  /** Approval and Elicitation: no. Cycle, Stuck and Purse: stop the run. */
  | "no"
  /** Approval: allow this call once. Cycle, Stuck and Purse: continue. */
  | "once"
  /** Approval: allow this call and calls like it, for this session. */
  | "session"
  /** Approval: allow this call and calls like it, permanently. */
  | "always"
  /** Approval: run the call with other arguments. */
  | "edit"
  /** Settlement: run the call again. */
  | "run_again"
  /** Settlement: treat the call as interrupted and tell the model so. */
  | "interrupt"
  /** Elicitation: the person filled in the form, or visited the page. */
  | "submit"
  /** Elicitation: closed without an answer, neither yes nor no. */
  | "dismiss";

/** What a person could change so that such a call would run, or such a request would be read whole. */
export type Remedy =
  /** Allow calls like it. */
  | { kind: "allow"; rule: string }
  /** Remove the protection of a path. */
  | { kind: "unprotect"; path: string }
  /** Allow fetching pages from a host with a private address. */
  | { kind: "fetch_private"; host: string }
  /** Repair the sandbox, which could not be tested on this machine. */
  | { kind: "mend_sandbox" }
  /** Give the model a larger window where it is served: this many `tokens` would do for some time. */
  | { kind: "larger_window"; software?: ModelSoftware; tokens: number };

/** A repair that made a call parsable. */
export type Repair =
  /** The JSON was malformed and was repaired. */
  | "syntax"
  /** The arguments were JSON inside a string. */
  | "unquoted"
  /** No arguments were given; an empty object is used. */
  | "missing"
  /** The name lacked its prefix, or had one too many. */
  | "name"
  /** The name is the one that other agents use for the tool. */
  | "alias"
  /** The name was misspelt; the nearest one is used. */
  | "nearest"
  /** Backslashes that form no valid escape were kept literally. */
  | "escape"
  /** A value had another type than the schema requires, and was converted. */
  | "coerced"
  /** A single value was given where the schema requires a list. */
  | "wrapped"
  /** A null was given for an optional argument, and was removed. */
  | "dropped"
  /** A required argument was given by another name of the same. */
  | "renamed"
  /** A script used modules that it did not import. */
  | "imports"
  /** A script was the new text of a file, which is written. */
  | "file_text";

/** A fault of a reply, with the evidence for it. */
export type ReplyFault =
  /** No call was made in the run, although the request is about these files or, where there are none, asks for a change. */
  | { is: "no_call"; files: string[] }
  /** The request asks for files that no call wrote. */
  | { is: "not_written"; files: string[] }
  /** The request asks for a figure from files, and the reply gives one that no script computed. */
  | { is: "not_computed" }
  /** Every call of the run failed, and the reply answers as if one had not. */
  | { is: "calls_failed" }
  /** The request asks for a change, and no call changed anything. */
  | { is: "nothing_changed" }
  /** The request names several files, and only some were used. */
  | { is: "untouched"; files: string[] }
  /** Files that the request lists beside one that was changed, or asks to be moved, are as they were. */
  | { is: "not_changed"; files: string[] }
  /** The reply repeats a script that was run already and brought nothing: the run starts over. */
  | { is: "repeated" }
  /** Steps of the plan are not done. */
  | { is: "steps_open"; steps: string[] }
  /** The reply shows a call as text instead of making it. */
  | { is: "call_as_text" }
  /** The reply ends by announcing a step. */
  | { is: "step_announced" }
  /** The reply tells the person how to do the work, or that it can't be done here. */
  | { is: "handed_back" };

/** What a run did to files and elsewhere. */
export interface RunChanges {
  /** Files and folders that it made; a folder ends with `/`. */
  created?: string[];
  /** Files that it changed. */
  changed?: string[];
  /** Files that it deleted. */
  deleted?: string[];
  /** Files that it moved. */
  moved?: MovedPath[];
  /** How many more paths were changed, which are not listed. */
  more?: number;
  /** Commands that it ran, which may have changed more than was seen. */
  commands?: string[];
  /** Tools of other servers that it called and that may have changed something. */
  elsewhere?: ToolName[];
  /** Files that the request names, in a request for a change, and that were not changed. */
  not_changed?: string[];
  /** Set when the request asks for a change and the records show none. */
  unfounded?: MissingChange;
  /** Files that its scripts changed or deleted unasked, and that were restored. */
  restored?: string[];
  /** Files that its scripts changed or deleted unasked, and that could not be restored: what became of them, and why. */
  lost?: { [path: string]: string };
}

/** A model that a run may call. */
export interface RunModel {
  /** Its name in the chain. One id on two servers is two models with two names. */
  name: ModelName;
  /** The address of its server, so that the conversation goes to no other server without consent. */
  server?: string;
  /** The size of its context window, in tokens, where it is known. */
  window?: number;
  /** The most tokens it can write in one reply, where that is known. */
  max_output?: number;
  /** What its tokens cost, where that is known. */
  prices?: ListPrices;
  /** How its provider caches what is sent, where that is known. */
  cache?: PromptCache;
  /** The software of its server, where that is known. */
  software?: ModelSoftware;
  /** Set when it is known to have no native calls: they are written as text from the start. */
  toolless?: boolean;
  /** The dialect it writes calls in, in place of the policy's, where its entry or the table of models says so. */
  dialect?: Dialect;
  /** How many tools besides the core tools it is offered, in place of the policy's number; 0 means all. */
  tools_offered?: number;
  /** Whether its server is asked to hold its replies to the schema of one call or an answer, where its calls are JSON. */
  constrained?: boolean;
  /** Whether it is sent images; a model that is not gets a sentence for each. */
  images?: boolean;
}

/** How a call that a crash interrupted is settled. */
export type Settlement =
  /** It is run again. */
  | "run_again"
  /** The tool is asked whether the effect took place. */
  | "verify"
  /** It counts as interrupted. */
  | "interrupt"
  /** A person is asked. */
  | "ask";

/** Which files are saved before a call of a tool. */
export type SnapshotKind =
  /** Left out, as the default. None: the tool's effect can't be undone, or there is nothing to undo. */
  | "none"
  /** The paths that the tool names beforehand; it changes no others. */
  | "paths"
  /** The workspace, within limits: the tool may change anything. */
  | "workspace";

/** What model calls have spent so far. */
export interface Spending {
  /** Money, for the calls of models whose prices are known; in US dollars. */
  cost: NanoMoney;
  /** Tokens sent and received. */
  tokens: number;
}

/** A limit on what model calls may spend: a row of the policy. */
export type SpendingLimit =
  /** The money of one run. */
  | "run_cost"
  /** The tokens of one run. */
  | "run_tokens"
  /** The time of one run. */
  | "run_time"
  /** The money of all runs of the session. */
  | "session_cost"
  /** The tokens of all runs of the session. */
  | "session_tokens"
  /** The money of all sessions on the day the run began. */
  | "day_cost"
  /** The tokens of all sessions on the day the run began. */
  | "day_tokens"
  /** The money of all sessions of the agent on the day the run began. */
  | "agent_cost"
  /** The tokens of all sessions of the agent on the day the run began. */
  | "agent_tokens";

/** What all other runs have spent on the same day, of the limits that they share with a run. */
export interface SpentElsewhere {
  /** Those of all agents. */
  day: Spending;
  /** Those of the run's agent. */
  agent: Spending;
}

/** Who stopped a run. */
export type StopBy =
  /** A person. */
  | "person"
  /** The caller's deadline. */
  | "deadline"
  /** The session was forked during the run: the open run continues only in the original session. */
  | "fork";

/** Why a model stopped. */
export type StopReason =
  /** It finished its reply. */
  | "stop"
  /** It wants the results of its calls. */
  | "calls"
  /** It reached the length limit. */
  | "length"
  /** The provider's filter cut it off. */
  | "filtered"
  /** It refused. */
  | "refused"
  /** The provider gave an error as the finish reason. */
  | "error"
  /** The provider wants the conversation sent again, with this reply at its end, to continue the reply. */
  | "paused";

/** The part of the conversation that a summary replaces, and what follows. */
export interface SummaryTask {
  /** How many messages, counted from the session's first, are summarised and no longer sent. */
  through: number;
  /** The purpose of the turn that starts when the summary is there. */
  then: TurnMode;
}

/** How some models of a run write calls, although others write them in another way. */
export interface TextCalls {
  /** The dialect they write calls in. */
  dialect: Dialect;
  /** The schemas of the tools and the rules for writing calls, which follow the prefix for these models. */
  rules: string;
  /** Their names. */
  models: ModelName[];
  /** What they are sent in place of the shared prefix and the rules, where their dialect has a prefix of its own. */
  prefix?: string;
}

/** Where a text came from that nobody here wrote or checked. */
export type TextOrigin =
  /** A fetched page. */
  | { kind: "page"; url: string }
  /** A tool server's result. */
  | { kind: "server"; server: string }
  /** A file that is not under version control, or has changed since it was added to it. */
  | { kind: "file"; path: string }
  /** Output of a command that could connect to other machines. */
  | { kind: "command"; command: string };

/** A tool as it is offered to a model. */
export interface ToolSpec {
  /** The name for people: `server.tool`. */
  name: ToolName;
  /** The name the model sees: letters, digits, `_` and `-`, at most 64. */
  wire_name: string;
  /** What it does and when to use it. */
  description: string;
  /** JSON Schema of the arguments, an object. */
  schema: Json;
  /** What running the tool twice would mean. */
  effect: EffectClass;
  /** Set for loop-ending tools. */
  ending?: Ending;
  /** Set for tools that poll: exempt from the progress guards. */
  repeatable?: boolean;
  /** Set for built-in tools that only display what is in the workspace: a repeated result may be shortened. */
  reads_files?: boolean;
  /** What the tool is for; a run may offer only the tools with certain tags. */
  tags?: string[];
}

/** The purpose of a turn. */
export type TurnMode =
  /** Tools are offered. */
  | "tools"
  /** There are no tools to offer. */
  | "talk"
  /** Tools are withheld; the reply must say what is done and what is not, and it ends the run. */
  | "wrap_up"
  /** The model writes a summary of the older part of the conversation, without tools. The reply never enters the history, and the turn does not count against the turn cap. */
  | "summary"
  /** The model writes a title for the session, after its first run and without tools. The reply never enters the history. No turn is started for it. */
  | "title"
  /** The model writes a plan for the request, without tools. The reply never enters the history, and the turn does not count against the turn cap. */
  | "plan"
  /** The model writes the answer from the results of the plan's steps, without tools. The reply is the run's answer. */
  | "synthesis"
  /** The model says whether the request needs tools, before any are offered. The reply never enters the history, and the turn does not count against the turn cap. */
  | "route";

/** A change that a request did not ask for. */
export type UnaskedChange =
  /** Any change, where the request is a question. */
  | { is: "in_answer" }
  /** Any change, where the request does not say exactly what to change. */
  | { is: "unclear" }
  /** The loss of a file that the request does not name. */
  | { is: "deletes"; path: string }
  /** The change of a file that the request does not name, after one that it names. */
  | { is: "not_named"; path: string }
  /** Any change of a file that the run was not allowed to delete. */
  | { is: "after_denied_delete"; path: string };

/** Something that can be undone. */
export type Undoable =
  /** The effect of a call. */
  | { call: CallId }
  /** The effect of an undo. */
  | { undo: UndoId };

/** Tokens counted by the provider, or estimated where it gave no count. */
export interface Usage {
  /** Tokens sent, cached ones included. */
  input: number;
  /** Tokens received, reasoning included. */
  output: number;
  /** Of `input`, read from the provider's cache. */
  cached: number;
  /** Of `input`, written to the provider's cache. */
  cache_written?: number;
  /** Of `output`, spent on reasoning. */
  reasoning: number;
  /** How many model calls are counted here. */
  calls: number;
  /** Set when any part of the count is our estimate. */
  estimated?: boolean;
}

/** Whether a call may run. */
export type Verdict =
  /** Yes. */
  | { verdict: "allow" }
  /** A person must decide. */
  | { verdict: "ask" }
  /** No; the model sees the `reason`. `remedy` is what a person could change about it. */
  | { verdict: "deny"; reason: string; remedy?: Remedy }
  /** No: the arguments don't fit the schema; `reason` says how to correct them. */
  | { verdict: "invalid"; reason: string; remedy?: Remedy }
  /** No: there is no such tool; `reason` has suggestions. `unavailable` is the tool's server, where it could not be connected. */
  | { verdict: "unknown"; reason: string; unavailable?: string };

/** What decided whether a call may run. */
export type VerdictReason =
  /** No rule matched, so the permission mode decided. */
  | { by: "mode"; mode: string }
  /** A rule of the configuration or the command line. */
  | { by: "rule"; rule: string }
  /** A rule that a person allowed for this session. */
  | { by: "grant"; rule: string }
  /** The call would change a protected `path`; `pattern` is what protects it. */
  | { by: "protected"; path: string; pattern: string }
  /** The call would carry text from outside to a protected path or the network. */
  | { by: "outside_text"; origin: TextOrigin }
  /** The call would change files although the request did not ask for that. */
  | { by: "unasked"; change: UnaskedChange }
  /** The call runs a script that a model wrote, and no sandbox confines it. */
  | { by: "unconfined" };

/** What a wait is for. */
export type WaitFor =
  /** These servers to be connected. */
  | { servers: string[] }
  /** The server's answer to a call of this tool. */
  | { answer: ToolName };

/** Why a tool is withheld. */
export type WithheldFor =
  /** It failed too often in a row. */
  | "failures"
  /** The model repeated the same calls with it. */
  | "cycle";

/** The files of a workspace at the beginning of a run. */
export interface WorkspaceOverview {
  /** The files, in the order of their paths. */
  files: OverviewFile[];
  /** Whether there are more files than are listed. */
  is_cut?: boolean;
  /** Set when the model is not shown it: only the judge reads it. */
  is_for_judge?: boolean;
}

/** The rules of one run, fully resolved and free of secrets. */
export interface Policy {
  /** The preset it started from. */
  preset: string;
  /** How many turns a run may take. */
  turn_cap: number;
  /** What happens when a run reaches `turn_cap`. */
  at_cap: TurnCapAction;
  /** How a failed model call is retried. */
  retry: Retry;
  /** How the model writes calls. `native` is the wire's own form; without it, the prompt explains the first of the others. Text is also parsed for all others that are listed. */
  dialects: Dialect[];
  /** Where the offered tools come from. `remote` offers nothing yet. */
  tools: ToolSource[];
  /** What ends a run. With `judged_text` the judge reads the text first. */
  ends_by: EndsBy;
  /** Temperature and length limit of replies. */
  sampling: Sampling;
  /** How much reasoning effort the model is asked for. */
  reasoning: Reasoning;
  /** Whether calls of one reply run in parallel. */
  parallel: Parallel;
  /** What happens to a message that arrives during a run. */
  steering: Steering;
  /** How long a stream may be silent before it counts as failed. */
  stream_idle: StreamIdle;
  /** The active progress guards. */
  guards: Guard[];
  /** How much of a result the model sees. */
  result_cap: ResultCap;
  /** What happens to a call that a crash interrupted and that can't be repeated blindly. */
  unfinished_call: UnfinishedCall;
  /** The active nudges. `incomplete` and `deflection` are the judge's, at most three of both in a run. */
  nudges: Nudge[];
  /** Whether a plan is made first and carried out step by step. */
  planning: Planning;
  /** Which part of the history is sent. */
  history: HistoryKeeping;
  /** How long an approval waits for a person before it counts as "no", in milliseconds. */
  approval_wait_ms: number;
  /** The timeout of a tool that sets none itself, in milliseconds. */
  tool_timeout_ms: number;
  /** How often an output that does not fit its schema is sent back to the model. */
  output_corrections?: number;
  /** Tags that select the offered tools: tools with one of them, and those tagged `core`. Empty: all tools. */
  tags?: string[];
  /** Tools that are removed from the offer last and refused when called: names or patterns such as `git.*`. */
  hidden?: string[];
  /** The longest wait a server may ask for, in milliseconds. If it asks for more, the run uses the next model of the chain, or ends. Absent: no limit. */
  retry_after_limit_ms?: number;
  /** How long the first turn waits for tool servers that were never listed before, in milliseconds. 0: no wait. */
  server_wait_ms?: number;
  /** Whether a person is asked about calls that carry text from outside to a protected path or the network. */
  outside_text?: OutsideText;
  /** Whether a model writes a title for the session after its first run. */
  titles?: Titles;
  /** The most money a run may spend on model calls, in US dollars. Calls whose price is not known count as nothing; 0 allows only models that cost nothing. Absent, here and in the rows below: no limit. */
  run_cost_limit?: Dollars;
  /** The most tokens a run may send and receive. */
  run_token_limit?: number;
  /** The time after which a run makes no further model call, in milliseconds. */
  run_time_limit_ms?: number;
  /** The most money that all runs of a session may spend. */
  session_cost_limit?: Dollars;
  /** The most tokens that all runs of a session may send and receive. */
  session_token_limit?: number;
  /** The most money that all sessions may spend on one day, by UTC. */
  day_cost_limit?: Dollars;
  /** The most tokens that all sessions may send and receive on one day, by UTC. */
  day_token_limit?: number;
  /** The most money that all sessions of the agent may spend on one day, by UTC. */
  agent_cost_limit?: Dollars;
  /** The most tokens that all sessions of the agent may send and receive on one day, by UTC. */
  agent_token_limit?: number;
  /** Which sources add passages to a turn: text found by the words of the last message. */
  retrieve?: Retrieve;
  /** Whether the model is shown what the workspace holds before the request. */
  overview?: Overview;
  /** Whether a person is asked about changes to files that the request did not ask for: any change where it is a question, deleting what it does not name, and changing what it does not name after what it names. What a script did so is restored. */
  unasked_changes?: UnaskedChanges;
  /** How many tools besides the core tools a run offers where there are more than thirty: those that fit the request best. The others can be looked for. 0: all of them. The number of a model's own entry counts more. */
  tools_offered?: number;
  /** Whether a model is asked first if the request needs tools at all. */
  router?: IntentRouter;
}

/** What ends a run. */
export type EndsBy =
  /** A reply without calls. */
  | "text"
  /** A reply without calls that the judge considers complete. */
  | "judged_text"
  /** A call of a loop-ending tool; any other reply gets a nudge. */
  | "ending_tool";

/** A progress guard. */
export type Guard =
  /** When a built-in file read gives the same result again, the result says so instead of repeating the content. */
  | "repeated_read"
  /** A change of files that repeats the last one, which worked, is not made again; the second time in a row the run ends if the records show that all is done. A script is not run again while nothing has changed. */
  | "repeated_change"
  /** A tool whose calls all failed in three turns in a row is withdrawn from the run. */
  | "failed_tool"
  /** After two turns with nothing but errors the model gets a correction. */
  | "error_turns"
  /** The identical error in five turns in a row ends the run. */
  | "five_errors"
  /** A repeating sequence of calls of any length: the response escalates. */
  | "cycle";

/** Which part of the history is sent to the model. */
export type HistoryKeeping =
  /** All that fits: only as much of the oldest part is left out as is needed. */
  | "all_that_fits"
  /** Limited by tokens: first older results are shortened, then a summary takes the place of the oldest part. */
  | "summarised"
  /** Limited by tokens: the oldest part is left out, down to half of the window. */
  | "pruned"
  /** At most `messages` messages; when there are more, a summary takes the place of all but the newest half. Otherwise like `summarised`. */
  | { consolidated: { messages: number } };

/** Who says whether a request needs tools. */
export type IntentRouter =
  /** Left out, as the default. Nobody: tools are offered. */
  | "off"
  /** A model, in the role `router`, when a run begins, as long as no tool was called in the conversation. */
  | "model";

/** The length limit of a reply. */
export type MaxTokens =
  /** The model's default. */
  | "model_own"
  /** This many tokens. */
  | { fixed: number }
  /** What the context budget leaves; the model's default where its window is unknown. */
  | "budget";

/** What happens to a call that would carry text from outside to a protected path or the network. */
export type OutsideText =
  /** Left out, as the default. Permissions are checked as for any other call. */
  | "ignore"
  /** A person is asked, and sees where the text came from. */
  | "ask";

/** Whether a run begins with an overview of its workspace: the files with their sizes, and the text of those that the request names, or of all of them where they are few and short. Small models do not look for themselves. */
export type Overview =
  /** Left out, as the default. It does not. */
  | "off"
  /** Where the first model of the run writes calls as text. */
  | "text_calls"
  /** It does. */
  | "on";

/** Whether calls of one reply run in parallel. */
export type Parallel =
  /** One after the other. */
  | "off"
  /** All in parallel. */
  | "on"
  /** Read-only ones in parallel, others one after the other. */
  | "safe";

/** Whether a plan is made first and carried out step by step. */
export type Planning =
  /** Never. */
  | "no"
  /** When asked for. */
  | "optional"
  /** In every run that has tools. */
  | "always";

/** How much reasoning effort the model is asked for. */
export type Reasoning =
  /** The model's default: no setting is sent. */
  | "model_own"
  /** The value in the model's configuration; no setting is sent until models are configured individually. */
  | "configured"
  /** `low`. */
  | "low"
  /** `medium`. */
  | "medium"
  /** `high`. */
  | "high";

/** How much of a result the model sees. */
export interface ResultCap {
  /** The limit, in characters. */
  chars: number;
  /** Where the part beyond the limit goes. */
  rest: Spill;
}

/** Which sources add passages to a turn. They cost tokens in every turn, so none does unless it is asked for. */
export type Retrieve =
  /** Left out, as the default. None. */
  | "off"
  /** Those that the program which built the agent has added. */
  | "own"
  /** The text files of the workspace, and those that the program has added. */
  | "workspace";

/** Retries of a model call: the wait is `first_wait_ms`, doubled each time, plus up to a tenth, never above `ceiling_ms`. A wait that the server asks for is used as it is, up to `retry_after_limit_ms`. */
export interface Retry {
  /** Tries in all, the first included. */
  tries: number;
  /** The wait before the second try. */
  first_wait_ms: number;
  /** The longest wait. */
  ceiling_ms: number;
}

/** Sampling settings; temperatures in thousandths so that policies compare exactly. */
export interface Sampling {
  /** Temperature while tools are offered; absent means the model's default. */
  tool_temperature_milli?: number;
  /** Temperature while no tools are offered; absent means the model's default. */
  talk_temperature_milli?: number;
  /** The length limit of a reply. */
  max_tokens: MaxTokens;
}

/** Where the part of a result beyond the cap goes. */
export type Spill =
  /** It is dropped. */
  | "drop"
  /** It is stored beside the journal; the model reads it in parts as `call:ID`. */
  | "keep";

/** What happens to a message that arrives during a run. */
export type Steering =
  /** It waits until the run ends. */
  | "queue"
  /** The model sees it at the next turn. */
  | "inject";

/** How long a stream may be silent before it counts as failed. */
export interface StreamIdle {
  /** Before the first token. */
  first_ms: number;
  /** Between tokens. */
  next_ms: number;
}

/** Who writes a session's title. */
export type Titles =
  /** Left out, as the default. Nobody: the first words of the session stand for it. */
  | "off"
  /** A model, in the role `title`, once: when the first run that has an answer is over. */
  | "model";

/** A source of tools. */
export type ToolSource =
  /** In process, server name `local`. */
  | "built_in"
  /** The three loop-ending tools. */
  | "ending"
  /** All other server names: MCP servers and tools that an embedder registers. */
  | "mcp"
  /** Other machines; not built yet. */
  | "remote";

/** What happens at the turn cap. */
export type TurnCapAction =
  /** The run ends as `turn_cap`. */
  | "fail"
  /** One last model call without tools reports what is done and what is not. */
  | "wrap_up";

/** What happens to a call that changes files although the request did not ask for that. */
export type UnaskedChanges =
  /** Left out, as the default. Permissions are checked as for any other call. */
  | "allow"
  /** A person is asked; where nobody is available, the call is refused. */
  | "ask";

/** What happens to a call that a crash interrupted and that can't be repeated blindly. */
export type UnfinishedCall =
  /** It is run again. */
  | "run_again"
  /** It is marked interrupted and the model decides. */
  | "interrupt"
  /** A person is asked; the run waits. */
  | "ask"
  /** A person is asked; if nobody is available, the call is marked interrupted. */
  | "ask_or_interrupt";

/** A record, as it is stored and sent. */
export type RecordEvent =
  | RecordEnvelope<"SessionOpened", SessionOpened>
  | RecordEnvelope<"SessionChanged", SessionChanged>
  | RecordEnvelope<"LeaseTaken", LeaseTaken>
  | RecordEnvelope<"MessageAccepted", MessageAccepted>
  | RecordEnvelope<"RunStarted", RunStarted>
  | RecordEnvelope<"RunResumed", RunResumed>
  | RecordEnvelope<"ContextPinned", ContextPinned>
  | RecordEnvelope<"TurnStarted", TurnStarted>
  | RecordEnvelope<"AttemptFailed", AttemptFailed>
  | RecordEnvelope<"ModelReplied", ModelReplied>
  | RecordEnvelope<"CallRequested", CallRequested>
  | RecordEnvelope<"CallStarted", CallStarted>
  | RecordEnvelope<"SnapshotTaken", SnapshotTaken>
  | RecordEnvelope<"CallPaused", CallPaused>
  | RecordEnvelope<"CallSettled", CallSettled>
  | RecordEnvelope<"CallFinished", CallFinished>
  | RecordEnvelope<"FilesChanged", FilesChanged>
  | RecordEnvelope<"QuestionAsked", QuestionAsked>
  | RecordEnvelope<"QuestionAnswered", QuestionAnswered>
  | RecordEnvelope<"Nudged", Nudged>
  | RecordEnvelope<"ToolWithheld", ToolWithheld>
  | RecordEnvelope<"PlanChanged", PlanChanged>
  | RecordEnvelope<"ChildSpawned", ChildSpawned>
  | RecordEnvelope<"ChildReported", ChildReported>
  | RecordEnvelope<"Compacted", Compacted>
  | RecordEnvelope<"CancelAsked", CancelAsked>
  | RecordEnvelope<"UndoStarted", UndoStarted>
  | RecordEnvelope<"Undone", Undone>
  | RecordEnvelope<"RunEnded", RunEnded>;

/** A delta, which is only sent. */
export type DeltaEvent =
  | DeltaEnvelope<"TextDelta", TextDelta>
  | DeltaEnvelope<"ThinkingStarted", ThinkingStarted>
  | DeltaEnvelope<"ThinkingEnded", ThinkingEnded>
  | DeltaEnvelope<"ThinkingDelta", ThinkingDelta>
  | DeltaEnvelope<"CallDelta", CallDelta>
  | DeltaEnvelope<"Cleared", Cleared>
  | DeltaEnvelope<"Waiting", Waiting>
  | DeltaEnvelope<"SourceLeftOut", SourceLeftOut>;

/** An event of a session; a later version may send kinds that are not listed here. */
export type SessionEvent = RecordEvent | DeltaEvent;

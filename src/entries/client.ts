export type { DescribeOptions, ValidateOptions } from "../client/artifacts.ts";
export {
  type Client,
  createClient,
  type ListOptions,
  type MessagePage,
  type MessagesOptions,
  type SearchOptions,
  type SearchPage,
  type SessionPage,
} from "../client/client.ts";
export { ClientError, type ClientErrorCode } from "../client/client-error.ts";
export type { ClientOptions } from "../client/connection.ts";
export type { ListRunsOptions, PlanRunPage } from "../client/plan-runs.ts";
export type {
  CreatePlanRunRequest,
  ResumePlanRunRequest,
} from "../core/schemas/plan-run-requests.ts";
export type { RunDetail, RunPhase, RunSummary } from "../core/schemas/plan-run-schemas.ts";
export type { EventsOptions, FollowOptions, LiveOptions } from "../client/follow.ts";
export type { RunOptions } from "../client/run.ts";
export { commandNotes } from "../core/text/command-notes.ts";
export { reasonOf } from "../core/text/result-text.ts";
export { isHarmlessChoice } from "../core/questions.ts";
export { longerText } from "../core/text/longer-text.ts";
export type { LiveEvent } from "../core/schemas/live.ts";
export type { SessionEvent } from "../core/schemas/session-events.ts";
export type {
  CreateShareRequest,
  AccessInfo,
  NewShareInfo,
  ShareInfo,
  Whoami,
} from "../core/schemas/access-schemas.ts";
export type {
  ArtifactReportInfo,
  FindingCode,
  FindingInfo,
  PhaseInfo,
  PlanInfo,
  PlanReportInfo,
} from "../core/schemas/artifact-schemas.ts";
export type { Candidate, ErrorCode, Fault } from "../core/errors.ts";
export type {
  ExchangeChangesInfo,
  FileChangeInfo,
  FileOutcome,
  UndoInfo,
  UndoRequest,
} from "../core/schemas/file-change-schemas.ts";
export type { PatchSessionRequest } from "../core/schemas/patch-session.ts";
export type {
  AnswerRequest,
  CreateSessionRequest,
  DeletedSession,
  ExchangeDetail,
  ExchangeInfo,
  ListedExchange,
  QueuedExchangeInfo,
  MessageInfo,
  PostMessageRequest,
  Problem,
  QuestionInfo,
  ReasoningInfo,
  SessionAck,
  SessionDetail,
  SessionSummary,
} from "../core/schemas/schemas.ts";
export type {
  DoctorReport,
  ModelInfo,
  NodeInfo,
  WaitingInfo,
  PersonaInfo,
  VerificationInfo,
} from "../core/schemas/service-schemas.ts";
export type { StatInfo } from "../core/schemas/stats-schemas.ts";

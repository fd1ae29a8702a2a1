export { type ArtifactOptions, validateArtifact } from "./artifacts/validate-artifact.ts";
export type { ArtifactReport, Finding } from "./artifacts/finding.ts";
export type { FindingCode } from "./core/schemas/artifact-schemas.ts";
export { type PhaseGraph, phaseGraph } from "./artifacts/plans/phase-graph.ts";
export type { ExpectedArtifact, Phase, PhasePlan } from "./artifacts/plans/phase-plan.ts";
export type { KnownNames } from "./artifacts/plans/plan-names.ts";
export { type PhasePlanOptions, validatePhasePlan } from "./artifacts/validate-artifact.ts";
export type { PlanReport } from "./artifacts/plans/validate-plan.ts";
export {
  type Client,
  createClient,
  type ListOptions,
  type MessagePage,
  type MessagesOptions,
  type SessionPage,
} from "./client/client.ts";
export { ClientError, type ClientErrorCode } from "./client/client-error.ts";
export type { ClientOptions } from "./client/connection.ts";
export type { ListRunsOptions, PlanRunPage } from "./client/plan-runs.ts";
export type {
  CreatePlanRunRequest,
  ResumePlanRunRequest,
} from "./core/schemas/plan-run-requests.ts";
export type { RunDetail, RunPhase, RunSummary } from "./core/schemas/plan-run-schemas.ts";
export type { EventsOptions, FollowOptions, LiveOptions } from "./client/follow.ts";
export type {
  CreateShareRequest,
  NewShareInfo,
  ShareInfo,
  Whoami,
} from "./core/schemas/access-schemas.ts";
export type { LiveEvent } from "./core/schemas/live.ts";
export type { SessionEvent } from "./core/schemas/session-events.ts";
export {
  type Candidate,
  ERROR_CODES,
  type ErrorCode,
  type Fault,
  RepriseError,
} from "./core/errors.ts";
export type { PatchSessionRequest } from "./core/schemas/patch-session.ts";
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
} from "./core/schemas/schemas.ts";
export type {
  DoctorReport,
  ModelInfo,
  NodeInfo,
  WaitingInfo,
  PersonaInfo,
  VerificationInfo,
} from "./core/schemas/service-schemas.ts";
export type { StatInfo } from "./core/schemas/stats-schemas.ts";
export { openPostgresStore, openSqliteStore } from "./entries/stores.ts";
export { type App, createApp } from "./http/app.ts";
export type { AppOptions } from "./http/app-options.ts";
export { type RunningServer, type ServerOptions, startServer } from "./http/serve.ts";
export {
  type GraphFactory,
  openReprise,
  type Reprise,
  type RunInput,
  type RunnableGraph,
  type RunResult,
} from "./library/open-reprise.ts";
export type { RunOptions } from "./library/run-options.ts";
export type { ListedSessions, Sessions } from "./library/sessions.ts";
export type { OpenStore as Store } from "./store/store.ts";

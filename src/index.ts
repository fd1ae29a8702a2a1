export { RepriseError, type ErrorCode, ERROR_CODES } from "./core/errors.ts";
export type {
  CreateSessionRequest,
  MessageInfo,
  PostMessageRequest,
  SessionAck,
  SessionDetail,
  SessionSummary,
} from "./core/schemas.ts";

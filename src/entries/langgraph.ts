export { ERROR_CODES, type ErrorCode, RepriseError } from "../core/errors.ts";
export { RepriseSaver, type RepriseSaverOptions } from "../langgraph/reprise-saver.ts";

import {
  InsufficientScopeError,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
} from "@modelcontextprotocol/client";

import { systemCode } from "../core/errors.ts";
import { oneLine } from "../core/text/terminal-text.ts";

/** A server that cannot be used, or a call that is refused, without `reprise mcp login`. */
export class LoginNeeded extends Error {
  constructor(name: string, what: "a login" | "a login with more rights") {
    super(`it needs ${what}: \`reprise mcp login ${name}\``);
  }
}

/** A session that the server has ended: the next call begins another one ("Session Management" of the protocol of 2025-11-25). */
export class SessionGone extends Error {
  constructor() {
    super("its session has ended; the next call begins another one");
  }
}

/** True for what a server answered: then it is known that the call has ended. */
export function isAnswer(error: unknown): boolean {
  return (
    error instanceof ProtocolError ||
    error instanceof LoginNeeded ||
    error instanceof SessionGone ||
    error instanceof InsufficientScopeError ||
    error instanceof SdkHttpError ||
    (error instanceof SdkError && error.code === SdkErrorCode.UnsupportedResultType)
  );
}

const MAX_REASON = 300;

/** Why a server cannot be used, or a call of it failed, as the end of a sentence. A server's own words are cut and cleaned. */
export function reasonOf(error: unknown): string {
  const code = systemCode(error);
  if (code === "ENOENT") {
    return "its program, or the folder to start it in, is not there";
  }
  if (code === "EACCES") {
    return "its program may not be run";
  }
  if (error instanceof Error && error.name === "TimeoutError") {
    return "it did not answer in time";
  }
  if (error instanceof InsufficientScopeError) {
    return "it needs a login with more rights";
  }
  if (error instanceof SdkHttpError) {
    return reasonOfStatus(error.data.status);
  }
  if (error instanceof ProtocolError) {
    return `it answered with an error: ${shown(error.message)}`;
  }
  return error instanceof SdkError ? reasonOfCode(error) : shown(messageOf(error));
}

function reasonOfCode(error: SdkError): string {
  switch (error.code) {
    case SdkErrorCode.RequestTimeout:
      return "it did not answer in time";
    case SdkErrorCode.ConnectionClosed:
    case SdkErrorCode.NotConnected:
      return "it has ended";
    case SdkErrorCode.UnsupportedResultType:
      return "it answered in a way that is not known";
    default:
      return shown(error.message);
  }
}

function reasonOfStatus(status: number): string {
  return status === 401 || status === 403
    ? `it needs a login or another header (${status})`
    : `it answered with the status ${status}`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : "the connection failed";
}

function shown(text: string): string {
  const line = oneLine(text.slice(0, 4 * MAX_REASON));
  return line.length > MAX_REASON ? `${line.slice(0, MAX_REASON - 1)}…` : line;
}

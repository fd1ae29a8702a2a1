import { RepriseError } from "../../core/errors.ts";
import { asksForJson, type CliContext } from "./context.ts";
import { showError } from "./show-error.ts";

const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: "no space is left on the device",
  EDQUOT: "the disk quota is used up",
  EFBIG: "the file would become too large",
  EIO: "the device reports an error",
  EBADF: "it is closed",
};

/** Says on standard error that standard output could not be written. */
export function showOutputFailed(cli: CliContext, cause: NodeJS.ErrnoException): void {
  const reason = REASONS[cause.code ?? ""] ?? "the system refuses it";
  const sentence = `The output could not be written: ${reason}. What was stored is safe; correct that, and run the command again.`;
  const failed = new RepriseError("output_failed", sentence, { cause });
  showError(cli, failed, asksForJson(cli.args));
}

import { execFile } from "node:child_process";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const tools = fileURLToPath(new URL("../../node_modules/.bin", import.meta.url));

/** Runs a tool of `node_modules/.bin` to its end; an exit code other than 0 is not a failure here. */
export function runTool(
  name: string,
  args: readonly string[],
  options: { readonly cwd: string },
): Promise<{ readonly code: number | string; readonly stdout: string; readonly stderr: string }> {
  return new Promise((resolve) => {
    execFile(
      join(tools, name),
      args,
      {
        cwd: options.cwd,
        maxBuffer: 64 * 1024 * 1024,
        env: {
          ...process.env,
          // the Node.js that runs the tests also runs the tool
          PATH: [dirname(process.execPath), tools, process.env["PATH"]].join(delimiter),
        },
      },
      (error, stdout, stderr) => resolve({ code: error?.code ?? 0, stdout, stderr }),
    );
  });
}

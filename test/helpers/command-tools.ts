import { createCommands } from "../../src/agent/commands/commands.ts";
import {
  createCommandRecorder,
  type RecorderOptions,
} from "../../src/workspace/undo/commands/record-command.ts";

/** Commands without a sandbox, recorded. */
export function commandTools(recording: RecorderOptions) {
  const { session_id } = recording;
  const env = { PATH: process.env["PATH"] };
  const conceal = (text: string): string => text;
  return {
    commands: createCommands({ env, outputFolder: null }, { session_id, conceal }),
    record: createCommandRecorder(recording),
    onOutput: () => undefined,
  };
}

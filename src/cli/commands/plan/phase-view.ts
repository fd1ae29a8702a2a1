import type { RunDetail } from "../../../core/schemas/plan-run-schemas.ts";
import { type CliContext, printLine } from "../../process/context.ts";
import type { Drawing } from "../../process/output.ts";
import type { RawTerminal } from "../../process/raw-terminal.ts";
import { phaseLine, runLines } from "./run-lines.ts";

/** Shows a run while it runs. */
export interface PhaseView {
  show(run: RunDetail): void;
  /** Removes what is drawn again and again. */
  end(): void;
}

/** In a terminal, one line for each phase that is drawn again; elsewhere a line for each change. */
export function phaseView(cli: CliContext): PhaseView {
  const terminal = cli.stdout.terminal();
  return terminal === null ? new ChangeLines(cli) : new DrawnLines(terminal, cli.stdout.drawing());
}

class ChangeLines implements PhaseView {
  readonly #cli: CliContext;
  readonly #shown = new Map<string, string>();

  constructor(cli: CliContext) {
    this.#cli = cli;
  }

  show({ phases }: RunDetail): void {
    for (const phase of phases) {
      const text = `${phase.shown} ${phase.attempt}`;
      const isNews = !["waiting", "ready"].includes(phase.shown);
      if (isNews && this.#shown.get(phase.key) !== text) {
        printLine(this.#cli, phaseLine(phase));
      }
      this.#shown.set(phase.key, text);
    }
  }

  end(): void {
    // each line stays
  }
}

/** Draws over the lines that it has drawn. */
class DrawnLines implements PhaseView {
  readonly #terminal: Pick<RawTerminal, "size">;
  readonly #drawing: Drawing;
  #drawn = 0;

  constructor(terminal: Pick<RawTerminal, "size">, drawing: Drawing) {
    this.#terminal = terminal;
    this.#drawing = drawing;
  }

  show(run: RunDetail): void {
    const { columns, rows } = this.#terminal.size();
    const lines = runLines(run, columns - 1);
    // what has left the screen cannot be drawn over
    const max = Math.max(1, rows - 1);
    const shown =
      lines.length > max ? [...lines.slice(0, 1), ...busiest(run, max - 1, columns - 1)] : lines;
    const text = shown.map((line) => `${line}\n`).join("");
    this.#drawing.write(`${this.#back()}${text}`);
    this.#drawn = shown.length;
  }

  end(): void {
    this.#drawing.write(this.#back());
    this.#drawn = 0;
    this.#drawing.destroy();
  }

  #back(): string {
    return this.#drawn === 0 ? "" : `\u001b[${this.#drawn}A\r\u001b[J`;
  }
}

/** The lines of phases that run or wait for a person, and of others as many as fit. */
function busiest(run: RunDetail, max: number, columns: number): string[] {
  const isBusy = ({ shown }: RunDetail["phases"][number]): boolean =>
    ["running", "asking", "approval"].includes(shown);
  const { phases } = run;
  const ordered = [...phases.filter(isBusy), ...phases.filter((phase) => !isBusy(phase))];
  const fitting = ordered.slice(0, Math.max(0, max));
  return runLines({ ...run, phases: fitting }, columns).slice(1);
}

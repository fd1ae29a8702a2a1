import type { RunDetail } from "../../../core/schemas/plan-run-schemas.ts";
import type { Store } from "../../../store/store.ts";
import type { CliContext } from "../../process/context.ts";
import { phaseView, type PhaseView } from "./phase-view.ts";

/** Time between two reads of a run that another process may run. */
const POLL_MS = 500;

/** Shows a run again and again until its end, whichever process runs it. */
export class RunFollower {
  readonly #read: () => Promise<RunDetail>;
  readonly #view: PhaseView;
  readonly #stopListening: () => void;
  readonly #poll: NodeJS.Timeout;
  #reading: Promise<void> = Promise.resolve();
  #isDue = false;

  constructor(
    cli: CliContext,
    store: Store,
    run: { readonly session_id: string; readonly read: () => Promise<RunDetail> },
  ) {
    this.#read = run.read;
    this.#view = phaseView(cli);
    this.#stopListening = store.onCommit((ids) => {
      if (ids.has(run.session_id)) {
        this.#update();
      }
    });
    this.#poll = setInterval(() => this.#update(), POLL_MS);
  }

  /** Resolves once nothing is shown any more. */
  async end(): Promise<void> {
    this.#stopListening();
    clearInterval(this.#poll);
    await this.#reading;
    this.#view.end();
  }

  /** However many changes come while it reads, it reads once more after them. */
  #update(): void {
    if (this.#isDue) {
      return;
    }
    this.#isDue = true;
    this.#reading = this.#reading.then(async () => {
      this.#isDue = false;
      this.#view.show(await this.#read());
    });
    // what cannot be read now is shown at the end, or is why the command fails
    this.#reading = this.#reading.catch(() => undefined);
  }
}

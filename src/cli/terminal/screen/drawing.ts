import type { RawTerminal } from "../../process/raw-terminal.ts";

/** The terminal shows all that is between them at once. */
const BEGIN = "\u001b[?2026h";
const END = "\u001b[?2026l";

/** Writes so that all until `show` is seen at once. */
export class Drawing {
  readonly #terminal: RawTerminal;
  #hasBegun = false;

  constructor(terminal: RawTerminal) {
    this.#terminal = terminal;
  }

  write(out: string): void {
    if (out !== "") {
      this.#terminal.draw(this.#hasBegun ? out : BEGIN + out);
      this.#hasBegun = true;
    }
  }

  show(): void {
    if (this.#hasBegun) {
      this.#terminal.draw(END);
      this.#hasBegun = false;
    }
  }
}

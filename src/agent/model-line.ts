import { isRepriseError, RepriseError } from "../core/errors.ts";
import { oneLine } from "../core/text/terminal-text.ts";
import type { AnsweringModel } from "./answering-model.ts";

export interface ModelLineOptions {
  readonly first: AnsweringModel;
  /** Names of the models after it, in the order in which they are tried. */
  readonly fallback?: readonly string[];
  /** Opens one of them. Error codes: as `openAnswering`. */
  readonly open?: (name: string) => Promise<AnsweringModel>;
  /** Called when another model takes over, before it is asked. */
  readonly onFallback?: (model: AnsweringModel, sentence: string) => Promise<void>;
}

/**
 * The models of one exchange: the chosen one, and those that answer in its place. One that could not answer is not asked
 * again in the exchange.
 *
 *     chosen ──(its provider cannot answer, nothing is shown yet)──> fallback 1 ──> fallback 2 ──> the exchange fails
 */
export class ModelLine {
  readonly #options: ModelLineOptions;
  readonly #left: string[];
  #current: AnsweringModel;
  /** Sentences about the models that were tried or skipped. */
  readonly #before: string[] = [];
  /** Ends of the limits that they met. */
  readonly #resets: string[] = [];

  constructor(options: ModelLineOptions) {
    this.#options = options;
    this.#current = options.first;
    this.#left = (options.fallback ?? []).filter((name) => name !== options.first.modelName);
  }

  /** The model that answers now. */
  get current(): AnsweringModel {
    return this.#current;
  }

  /** The name of the model that answers in the place of the chosen one; null if none does. */
  get replacing(): string | null {
    return this.#current === this.#options.first ? null : this.#current.modelName;
  }

  /**
   * Asks the current model, and the next one if its provider cannot answer. `isShown` is true once something of the
   * answer was shown: another model would begin it again. Throws the last model's error, with what became of those
   * before.
   */
  async ask<Answer>(
    work: (model: AnsweringModel) => Promise<Answer>,
    isShown: () => boolean = () => false,
  ): Promise<Answer> {
    for (;;) {
      try {
        return await work(this.#current);
      } catch (error) {
        const { failure } = isRepriseError(error) ? error : { failure: null };
        if (!isRepriseError(error) || failure === null) {
          throw error;
        }
        if (failure.resets_at !== null) {
          this.#resets.push(failure.resets_at);
        }
        const next = failure.may_fall_back && !isShown() ? await this.#next() : null;
        if (next === null) {
          throw this.#withOthers(error);
        }
        const failed = oneLine(this.#current.modelName);
        this.#before.push(`Before it, ${failed} failed: ${failure.reason}.`);
        this.#current = next;
        await this.#options.onFallback?.(
          next,
          `${failure.reason}, so ${oneLine(next.modelName)} answers until this exchange ends.`,
        );
      }
    }
  }

  /** Opens the next model that can be asked; null if none is left. */
  async #next(): Promise<AnsweringModel | null> {
    for (;;) {
      const name = this.#left.shift();
      if (name === undefined || this.#options.open === undefined) {
        return null;
      }
      try {
        return await this.#options.open(name);
      } catch (error) {
        if (!isRepriseError(error)) {
          throw error;
        }
        this.#before.push(`The fallback ${oneLine(name)} was skipped: ${error.message}`);
      }
    }
  }

  #withOthers(error: RepriseError): RepriseError {
    const { failure } = error;
    if (this.#before.length === 0 || failure === null) {
      return error;
    }
    const others = this.#before.join(" ");
    return new RepriseError(error.code, `${error.message} ${others}`, {
      without_reason: `${error.without_reason} ${others}`,
      failure: { ...failure, resets_at: this.#resets.toSorted()[0] ?? null },
      cause: error.cause,
    });
  }
}

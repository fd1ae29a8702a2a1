/** A request that a provider accepts, and a change after which it refuses it by a rule. */
export interface RuleCase {
  readonly rule: string;
  /** Another model than the one that is tested. */
  readonly model?: string;
  readonly title?: string;
  /** Makes the valid request; `talk` sends one and returns its answer for a history; the result may be a promise. */
  readonly valid: (model: string, talk: Talk) => Changing;
  readonly change: (body: Changing, headers: Record<string, string>) => void;
  /** Headers of both requests, beside those with the key. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Options of the mock; a real account does not have them. */
  readonly account?: object;
}

/** A request's JSON while a test builds it. */
// oxlint-disable-next-line typescript/no-explicit-any -- each provider has other fields, and changes break them
export type Changing = any;

export type Talk = (body: Changing) => Promise<Changing>;

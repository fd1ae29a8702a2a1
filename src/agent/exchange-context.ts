import type { ExchangerOptions } from "../exchange/exchanger.ts";
import type { ChildReservation, ExchangeTree } from "../exchange/exchange-tree.ts";
import type { Keyless } from "../exchange/models/settings.ts";
import type { Persona } from "../exchange/personas/persona.ts";
import type { openModel } from "./models/open.ts";

export interface AgentOptions extends ExchangerOptions {
  /** The tree that the exchanges belong to and their place in it; each begins one without it. */
  readonly within?: { readonly tree: ExchangeTree; readonly place: ChildReservation };
  /** Opens the model that a name means; the providers' own clients where it is not given. */
  readonly openModel?: typeof openModel;
}

/** What an exchange needs before it begins. */
export interface Prepared {
  readonly model: Awaited<ReturnType<typeof openModel>>;
  readonly modelName: string;
  readonly keyless: Keyless | null;
  /** Tokens that the model reads at most. */
  readonly window: number;
  readonly persona: Persona;
  /** The folder whose files the tools use; null for none. */
  readonly folder: string | null;
  /** True if no tool may write in the folder. */
  readonly readOnly: boolean;
  readonly instructions: string | null;
}

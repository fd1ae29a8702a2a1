import type { PermissionMode } from "../../core/permissions.ts";
import { isRoot } from "../../core/session-tree.ts";
import type { Session } from "../../core/sessions.ts";
import { isHarmless, type ToolSet } from "../../core/tools.ts";
import {
  readPermissions,
  type SessionPermissions,
} from "../../store/records/sessions/permissions.ts";
import type { Store } from "../../store/store.ts";
import type { RepositoryConfig } from "../config/repository.ts";
import type { FolderSettings, Settings } from "../config/settings.ts";
import type { ProtectedPath } from "../config/user-config.ts";
import type { PersonaFolders } from "../personas/folders.ts";
import type { Persona } from "../personas/persona.ts";
import { BUILT_IN_TOOLS, WRITE_FILE } from "../tools/built-in.ts";
import type { WorkFolder } from "../trust/wide-folder.ts";
import { type Call, type CalledFile, secretFileOf } from "./call.ts";
import { decide, type Decision } from "./decide.ts";
import {
  type ConfigPermission,
  flagLayer,
  type Layer,
  NO_CONFIG,
  personaLayer,
  readOnlyLayer,
  sessionLayer,
  withConfig,
} from "./layers.ts";
import { parentLayers } from "./parent-layers.ts";

/** Where calls run: in a session, or in one that is not stored yet. */
export interface JudgedPlace {
  readonly session: Pick<Session, "id" | "repo_path" | "parent_session_id"> | null;
  readonly repo_path: string | null;
  /** Mode of a session that is not stored; null for what the config says. */
  readonly mode: PermissionMode | null;
}

/** Facts that are read of a place before calls in it are judged. */
export interface PlaceFacts {
  readonly persona: Persona;
  readonly folder: WorkFolder;
  readonly configured: FolderSettings | undefined;
  readonly repository: RepositoryConfig;
}

/** All that calls are judged by, for a person. */
export interface Judgement {
  readonly tools: ToolSet;
  readonly mode: PermissionMode;
  readonly below: readonly Layer[];
  readonly user: readonly Layer[];
  readonly restricting: readonly Layer[];
  readonly protected: readonly ProtectedPath[];
}

type StoredChoice = Pick<SessionPermissions, "mode" | "rules">;

/** Choices of the user, as they are during one call of a tool. The session is read once it is needed. */
export interface Chosen {
  readonly config: ConfigPermission;
  readonly stored: () => Promise<StoredChoice>;
}

/** Rules of the run itself, besides those that are stored. */
export interface RunPermission {
  /** Calls that need no question, as rules: see `parseCallPattern`. */
  readonly allow: readonly string[];
  /** False if nobody is asked: what would be asked is denied. */
  readonly asks: boolean;
  /** Called for each call that rules deny, also of sub-agents; not for what a person denies. */
  readonly onDenied?: () => void;
}

/** Where the layers of a judgement come from. */
export interface JudgeSource {
  readonly store: Store;
  readonly personas: PersonaFolders;
  /** Every tool that its exchanges may have; `BUILT_IN_TOOLS` if it is not given. */
  readonly tools?: ToolSet;
  /** The user's config; none if it is not given. */
  readonly settings?: Settings | undefined;
  /** Rules of this run (`--allow`), and whether anybody is asked. */
  readonly permission?: RunPermission | undefined;
}

/**
 * Judges the calls of one place: for the exchange that runs them, and for who asks what would be decided. The only
 * place that puts the layers together.
 */
export class Judge {
  readonly #source: JudgeSource;
  readonly #place: JudgedPlace;
  readonly #restricting: readonly Layer[];
  readonly #ofFolder: readonly Layer[];
  readonly #protected: readonly ProtectedPath[];
  readonly #tools: ToolSet;

  private constructor(
    source: JudgeSource,
    place: JudgedPlace,
    facts: PlaceFacts,
    above: readonly Layer[],
  ) {
    const { persona, folder, configured, repository } = facts;
    this.#source = source;
    this.#place = place;
    this.#tools = source.tools ?? BUILT_IN_TOOLS;
    this.#ofFolder = [
      ...(folder.readOnly ? [readOnlyLayer(this.#tools)] : []),
      ...repository.layers,
    ];
    this.#restricting = [personaLayer(persona, this.#tools), ...above, ...this.#ofFolder];
    this.#protected = [...(configured?.protected ?? []), ...repository.protected];
  }

  /** Reads the sessions above one of a sub-agent. Error codes: `database_*`. */
  static async open(source: JudgeSource, place: JudgedPlace, facts: PlaceFacts): Promise<Judge> {
    const { session } = place;
    const { store, personas, tools = BUILT_IN_TOOLS } = source;
    const isBelow = session !== null && !isRoot(session);
    const above = isBelow
      ? await parentLayers({ store, personas: { ...personas, tools } }, session, tools)
      : [];
    return new Judge(source, place, facts, above);
  }

  /** Layers that only make decisions stricter. */
  get restricting(): readonly Layer[] {
    return this.#restricting;
  }

  /** Paths that the configuration protects. */
  get protected(): readonly ProtectedPath[] {
    return this.#protected;
  }

  /** Reads what the user chose until now. Error codes: `config_invalid`. */
  async chosen(): Promise<Chosen> {
    const { store, settings } = this.#source;
    const { session, repo_path, mode } = this.#place;
    const config = (await settings?.at(repo_path))?.permission ?? NO_CONFIG;
    let stored: Promise<StoredChoice> | null = null;
    return {
      config,
      stored: () =>
        (stored ??=
          session === null
            ? Promise.resolve({ mode: mode ?? config.mode ?? "ask", rules: [] })
            : store.read(readPermissions, session)),
    };
  }

  /**
   * Decides about a call in the exchange `n`, null for none. What only reads ordinary files depends on what the user
   * chose only if the config has rules for it: else it costs no statement. Error codes: `config_invalid`, `database_*`.
   */
  async decide(call: Call, n: number | null, chosen?: Chosen): Promise<Decision> {
    const { config, stored } = chosen ?? (await this.chosen());
    const isOrdinary =
      isHarmless(call.tool) &&
      secretFileOf(call) === null &&
      !config.layers.some(({ rules }) => rules.some(({ tool }) => tool === call.tool.name));
    const user = isOrdinary
      ? { mode: "ask" as const, user: [] }
      : this.#user(config, await stored(), (rules) => [sessionLayer(rules, n, this.#tools)]);
    const asks = this.#source.permission?.asks ?? true;
    return decide({ call, tools: this.#tools, restricting: this.#restricting, asks, ...user });
  }

  /**
   * Decides about a file that Reprise writes itself: as about `write_file` in the mode `edits`, by whatever persona, and nobody
   * is asked. Error codes: `config_invalid`.
   */
  async decideArtifact(file: CalledFile): Promise<Decision> {
    const { config } = await this.chosen();
    return decide({
      call: { tool: WRITE_FILE, file, command: null },
      tools: this.#tools,
      mode: "edits",
      below: config.layers,
      user: [],
      restricting: this.#ofFolder,
      asks: false,
    });
  }

  /** Returns every rule, also those for one exchange. Error codes: as `decide`. */
  async judgement(): Promise<Judgement> {
    const { config, stored } = await this.chosen();
    const ofSession: OfSession = (rules) => [
      sessionLayer(rules, null, this.#tools),
      ...exchangesOf(rules).map((n) => ({
        ...sessionLayer(
          rules.filter((rule) => rule.n === n),
          n,
          this.#tools,
        ),
        name: `exchange ${n}`,
      })),
    ];
    return {
      tools: this.#tools,
      ...this.#user(config, await stored(), ofSession),
      protected: this.#protected,
      restricting: this.#restricting,
    };
  }

  #user(config: ConfigPermission, { mode, rules }: StoredChoice, ofSession: OfSession) {
    const flags = flagLayer(this.#source.permission?.allow ?? [], this.#tools);
    return withConfig(config, { mode, user: [...ofSession(rules), flags] });
  }
}

type OfSession = (rules: StoredChoice["rules"]) => readonly Layer[];

function exchangesOf(rules: StoredChoice["rules"]): number[] {
  return [...new Set(rules.map(({ n }) => n))].filter((n) => n !== null);
}

import { type Static, type TProperties, Type } from "typebox";

import { PERMISSION_MODES } from "../../core/permissions.ts";
import { NOTIFICATIONS, THEMES } from "./user-config.ts";

/*
 * The form of config files: `readValue` reads by it, `docs/config.schema.json` is made of it, and the keys of
 * `config get` and `config set` come from it. `reads` names what a text has to be besides: see `CHECKS`.
 */

/** Characters of a text, and entries of a list. */
export const MAX_TEXT = 4096;
export const MAX_ITEMS = 1000;
/** 1 TiB, as memory and files have MiB. */
const MAX_SANDBOX = 1024 * 1024;

/** An object whose members may all be left out. */
function some<Members extends TProperties>(members: Members, options: object = {}) {
  return Type.Partial(Type.Object(members), { ...options, additionalProperties: false });
}

const text = (options: object = {}) => Type.String({ minLength: 1, ...options });
const item = (options: object = {}) => text({ maxLength: MAX_TEXT, ...options });
const list = (description: string, items = item(), options: object = {}) =>
  Type.Array(items, { description, maxItems: MAX_ITEMS, ...options });
const count = (description?: string, options: object = {}) =>
  Type.Integer({ ...(description === undefined ? {} : { description }), minimum: 1, ...options });
const path = (description: string) => item({ description, pattern: "^(/|~$|~/)", reads: "path" });
const rules = (description: string) => list(description, item({ reads: "rule" }));

const Permission = {
  mode: Type.Enum([...PERMISSION_MODES], {
    description: "The mode that new sessions of the command line begin with.",
  }),
  allow: rules("Calls that need no question, such as write_file(docs/**)."),
  ask: rules("Calls that are asked about."),
  deny: rules("Calls that are denied; nothing but this file allows them again."),
};

const Limits = {
  children_at_once: count("Sub-agents of one exchange that run at once."),
  children: count("Sub-agents that one exchange begins."),
  model_calls: count("Calls of models in one exchange, its sub-agents' included."),
};

const SandboxLimits = some({
  processes: count("Processes of one command.", { maximum: MAX_SANDBOX }),
  memory_mib: count("Memory of one command with all that it starts, in MiB.", {
    maximum: MAX_SANDBOX,
  }),
  file_mib: count("Size of one file that it writes, in MiB.", { maximum: MAX_SANDBOX }),
});

const Section = {
  model: text({
    description: "The model of sessions and personas that name none, as provider:model.",
    reads: "model",
  }),
  persona: text({ description: "Who answers in new sessions of the command line." }),
  permission: some(Permission, { description: "What is asked before a tool takes effect." }),
  protected: list(
    "What no tool touches: absolute paths, paths that begin with ~/, and patterns below the session's folder. A pattern without a slash counts at every depth.",
    item({ reads: "protected" }),
  ),
  limits: some(
    {
      ...Limits,
      tokens: some(
        { exchange: count(), session: count(), tree: count() },
        {
          description: "Tokens that new sessions of the command line may use, as --token-limit.",
        },
      ),
    },
    { description: "What an exchange or a session may use." },
  ),
  environment: list(
    "Exact names of variables that commands of the agent get besides.",
    Type.String({ pattern: "^[A-Za-z_]\\w{0,255}$", reads: "variable" }),
  ),
  sandbox: some(
    {
      limits: SandboxLimits,
      visible: list(
        "What of your home folder commands see besides toolchains and caches, such as ~/.config/tool.",
        Type.String({
          maxLength: MAX_TEXT,
          // no part of such a path leads back
          pattern: "^~(?:/(?!\\.{1,2}(?:/|$))[^/]+)+/?$",
          reads: "below_home",
        }),
      ),
    },
    { description: "Of commands that the agent runs in the sandbox." },
  ),
};

const SectionForm = some(Section);

const provider = () =>
  some(
    {
      key_file: path("A file that holds the key: an absolute path, or one that begins with ~/."),
      key_command: list("A command that prints the key, run without a shell.", item(), {
        minItems: 1,
      }),
    },
    { maxProperties: 1 },
  );

/** The user's config. */
export const ConfigForm = some(
  {
    $schema: text(),
    ...Section,
    theme: Type.Enum([...THEMES], {
      description: "The colours of the screen; auto asks the terminal for its background.",
    }),
    notifications: Type.Enum([...NOTIFICATIONS], {
      description: "How the screen notifies when an exchange of over 20 s ends or asks.",
    }),
    providers: some(
      { anthropic: provider(), openai: provider() },
      { description: "Places of the keys of providers, if no variable has them." },
    ),
    folders: Type.Unsafe<Readonly<Record<string, SectionText>>>({
      description:
        "Sections for folders and those below them, by absolute path or a path that begins with ~/.",
      type: "object",
      propertyNames: { pattern: "^(/|~$|~/)" },
      additionalProperties: SectionForm,
    }),
  },
  { title: "Reprise's config.jsonc", description: "docs/configuration.md explains the keys." },
);

/** Keys that the config of a folder may hold: they only make things stricter. */
export const RepositoryForm = some({
  $schema: Type.Unknown(),
  permission: some({ ask: Permission.ask, deny: Permission.deny }),
  protected: list("", item({ reads: "pattern" })),
  limits: some(Limits),
  sandbox: some({ limits: SandboxLimits }),
});

/** As they are written, without what cannot be used. */
export type SectionText = Static<typeof SectionForm>;
export type ConfigText = Static<typeof ConfigForm>;
export type RepositoryText = Static<typeof RepositoryForm>;

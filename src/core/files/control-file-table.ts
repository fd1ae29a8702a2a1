/** When the agent may write a file that other programs execute or obey. */
type Rule = "never" | "for_now";

export interface ControlFile {
  /** Name, or two names below each other with `/` between. `*` at its beginning is any text. */
  readonly name: string;
  readonly rule: Rule;
  /** Effect of a written one, for the model and for readers of this table. */
  readonly reason: string;
}

/**
 * Files that decide what programs do in a folder, protected at every depth; by who obeys them. `never`: they direct
 * agents and git themselves. `for_now`: until a person can be asked. Not here: what a person starts on purpose, such as
 * `package.json`, `Makefile` and the options of a compiler that name no programs.
 */
export const CONTROL_FILES: readonly ControlFile[] = [
  { name: ".git", rule: "never", reason: "git runs hooks and programs that it names" },
  { name: ".reprise", rule: "never", reason: "it directs Reprise" },
  { name: ".claude", rule: "never", reason: "it directs Claude Code and holds its commands" },
  { name: ".agents", rule: "never", reason: "it directs agents" },
  { name: ".codex", rule: "never", reason: "it directs Codex and holds its commands" },

  { name: "AGENTS.md", rule: "for_now", reason: "every agent obeys it from then on" },
  { name: "CLAUDE.md", rule: "for_now", reason: "Claude Code obeys it from then on" },
  { name: ".mcp.json", rule: "for_now", reason: "agents start the servers that it names" },
  ...asked(
    "an agent obeys it from then on",
    `AGENTS.override.md, AGENT.md, CLAUDE.local.md, GEMINI.md, QWEN.md, CRUSH.md, WARP.md, replit.md, .rules, .cursorrules,
    .windsurfrules, .clinerules, .roorules, .continuerules, .goosehints, .augment-guidelines, .openhands_instructions,
    .github/copilot-instructions.md, .github/instructions, .github/prompts, .github/chatmodes, .github/agents,
    .github/skills`,
  ),
  ...asked(
    "it directs an agent, and can name servers and programs that this starts",
    `.cursor, .gemini, .qwen, .copilot, .github/hooks, .github/copilot, opencode.json, opencode.jsonc, .opencode, .windsurf,
    .cline, .roo, .roomodes, .kilocode, .kilocodemodes, .kiro, .amp, .amazonq, .augment, .continue, .crush, crush.json,
    .crush.json, .factory, .goose, .junie, .trae, .zencoder, .openhands, .devin, .tabnine, .agent, .antigravity, .warp,
    .firebender, firebender.json, .ruler, .rulesync, .serena, .grok, .vibe, .codebuddy, .iflow, .pi, .aider.conf.yml,
    .claude-plugin, .cursor-plugin`,
  ),

  { name: ".vscode", rule: "for_now", reason: "the editor runs its tasks" },
  { name: ".idea", rule: "for_now", reason: "the editor runs its configurations" },
  ...asked(
    "an editor runs what it names",
    `*.code-workspace, *.sublime-project, .devcontainer, .devcontainer.json, .zed, .vs, .fleet, .run, .helix, .nova, .theia, .idx,
    .gitpod.yml, .replit, .nvim.lua, .nvimrc, .exrc, .vimrc, _vimrc, .gvimrc, .lvimrc, .lazy.lua, .vim/coc-settings.json,
    .luarc.json, .luarc.jsonc, .ycm_extra_conf.py, .dir-locals.el, .dir-locals-2.el`,
  ),

  { name: ".envrc", rule: "for_now", reason: "the shell runs it on entering the folder" },
  ...asked(
    "the shell runs what it names on entering the folder",
    `.direnv, .mise.toml, .mise.local.toml, mise.toml, mise.local.toml, .mise, mise/config.toml, mise/config.local.toml,
    .config/mise, .config/mise.toml, .rtx.toml, .autoenv, .autoenv.zsh, .shadowenv.d, .ondir, .smartcd`,
  ),
  ...asked(
    "an interpreter or a debugger runs it when it starts in the folder",
    ".Rprofile, .Renviron, .irbrc, .pryrc, .pdbrc, .ghci, .ocamlinit, .iex.exs, .octaverc, .gdbinit, .lldbinit",
  ),

  {
    name: ".github/workflows",
    rule: "for_now",
    reason: "GitHub runs it with the project's rights",
  },
  ...asked(
    "a server runs it with the project's rights",
    `.github/actions, .gitlab-ci.yml, .gitlab-ci.yaml, .gitlab, .circleci, .travis.yml, azure-pipelines.yml, azure-pipelines.yaml,
    .azure-pipelines, bitbucket-pipelines.yml, Jenkinsfile, .drone.yml, .woodpecker, .woodpecker.yml, .woodpecker.yaml,
    .buildkite, .gitea, .forgejo, .cirrus.yml, .appveyor.yml, appveyor.yml, .semaphore, .tekton, .teamcity, cloudbuild.yaml,
    buildspec.yml, .build.yml, .builds, .readthedocs.yaml, .readthedocs.yml, readthedocs.yaml, readthedocs.yml`,
  ),

  { name: ".husky", rule: "for_now", reason: "git runs its hooks" },
  { name: ".gitattributes", rule: "for_now", reason: "git runs the filters that it names" },
  { name: ".gitmodules", rule: "for_now", reason: "git fetches what it names" },
  ...asked(
    "a version control system runs hooks and programs that it names",
    ".hg, .jj, .sl, .pijul, .bzr",
  ),
  ...asked(
    "git's hooks run what it names",
    `.githooks, .git-hooks, .pre-commit-config.yaml, .pre-commit-config.yml, prek.toml, lefthook.yml, lefthook.yaml, lefthook.toml,
    lefthook.json, .lefthook.yml, .lefthook.yaml, .lefthook.toml, lefthook-local.yml, .lefthook-local.yml, .lefthook,
    .lefthook-local, .overcommit.yml, .huskyrc, captainhook.json`,
  ),

  { name: ".npmrc", rule: "for_now", reason: "npm takes packages and programs from where it says" },
  ...asked(
    "a package manager takes packages and programs from where it says",
    `.yarnrc, .yarnrc.yml, .yarn/releases, .yarn/plugins, .pnpmfile.cjs, .pnpmfile.mjs, bunfig.toml, .cargo/config.toml,
    .cargo/config, .bundle/config`,
  ),
  ...asked(
    "a compiler or a build tool loads the programs and options that it names",
    "rust-toolchain.toml, rust-toolchain, .mvn, .bazelrc, .bazeliskrc",
  ),
];

function asked(reason: string, names: string): readonly ControlFile[] {
  return names.split(",").map((name) => ({ name: name.trim(), rule: "for_now", reason }));
}

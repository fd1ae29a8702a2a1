import { isAbsolute } from "node:path";

import type { Conceal } from "../../core/secrets.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Of the user and the system: none of them is a secret, and none makes a program run another one. */
const PASSED = `
  HOME LOGNAME SHELL TMPDIR TZ USER
  LANG LANGUAGE LC_ALL LC_ADDRESS LC_COLLATE LC_CTYPE LC_IDENTIFICATION LC_MEASUREMENT LC_MESSAGES LC_MONETARY
  LC_NAME LC_NUMERIC LC_PAPER LC_TELEPHONE LC_TIME
  XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_STATE_HOME
  NODE_EXTRA_CA_CERTS SSL_CERT_DIR SSL_CERT_FILE
  ANDROID_HOME ANDROID_SDK_ROOT BUN_INSTALL CARGO_HOME CARGO_TARGET_DIR CONDA_PREFIX COREPACK_HOME DENO_DIR
  DOTNET_ROOT FNM_DIR GEM_HOME GEM_PATH GOBIN GOCACHE GOMODCACHE GOPATH GOROOT GRADLE_HOME GRADLE_USER_HOME
  HOMEBREW_PREFIX JAVA_HOME M2_HOME MAVEN_HOME NVM_DIR PNPM_HOME POETRY_HOME PYENV_ROOT RBENV_ROOT RUSTUP_HOME
  RUSTUP_TOOLCHAIN SDKMAN_DIR UV_CACHE_DIR VIRTUAL_ENV VOLTA_HOME
`
  .split(/\s+/)
  .filter((name) => name !== "");

/** No program waits for a person, and none draws on a terminal. */
const FIXED = { GIT_TERMINAL_PROMPT: "0", PAGER: "cat", TERM: "dumb" } as const;

/**
 * The environment of a command: what is listed above, and the variables of these exact names. `REPRISE_…` is never
 * passed, nor a variable that holds one of Reprise's secrets. Of `PATH`, folders that depend on where a program runs
 * are left out.
 */
export function commandEnvironment(
  env: Environment,
  { names = [], conceal }: { readonly names?: readonly string[]; readonly conceal: Conceal },
): Record<string, string> {
  const passed = [...PASSED, ...names].filter((name) => !/^REPRISE_/i.test(name));
  const given = passed.flatMap((name) => {
    const value = env[name];
    return value === undefined || conceal(value) !== value ? [] : [[name, value] as const];
  });
  const path = (env["PATH"] ?? "").split(":").filter((folder) => isAbsolute(folder));
  return { ...FIXED, ...Object.fromEntries(given), PATH: path.join(":") };
}

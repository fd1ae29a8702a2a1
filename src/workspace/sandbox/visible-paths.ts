/**
 * Paths of a home folder that commands see besides the session's folder: toolchains, caches of packages and settings
 * without secrets. A folder is named as narrowly as its program allows: what `hidden-paths.ts` names in it stays
 * hidden.
 */
export const VISIBLE_IN_HOME: readonly string[] = [
  // programs of the user, and version managers of any language
  ...listed(`bin, opt, .local/bin, .local/lib, .local/libexec, .local/include, .local/opt, .local/man, .local/share/man,
    .asdf, .asdfrc, .tool-versions, .local/share/mise, .local/share/rtx, .proto, .local/share/proto, .hermit,
    .local/share/aquaproj-aqua, .version-fox, .pkgx, .linuxbrew, .nix-profile, .nix-defexpr,
    .local/state/nix/profiles, .guix-profile, .pixi, .devbox, .local/share/devbox`),
  // JavaScript
  ...listed(`.nvm, .nvmrc, .node-version, .fnm, .local/share/fnm, .volta, .nodenv, .nodebrew, .n, n, .npm/_cacache, .npm/_npx,
    .npm-global, .npm-packages, .local/share/pnpm, .pnpm-store, .cache/pnpm, .config/yarn/global, .yarn/bin, .yarn/berry,
    .yarn/releases, .cache/yarn, .bun/bin, .bun/install, .deno, .cache/deno, .cache/node, .cache/node-gyp, .cache/typescript,
    .cache/ms-playwright, .cache/puppeteer, .cache/Cypress, .cache/electron, .cache/electron-builder, .cache/esbuild`),
  // Python
  ...listed(`.pyenv, .python-version, .local/share/uv/python, .local/share/uv/tools, .cache/uv, .cache/pip,
    .cache/pypoetry/artifacts, .cache/pypoetry/cache, .cache/pypoetry/virtualenvs, .local/share/pypoetry,
    .local/share/pipx, .local/pipx, .local/share/virtualenvs, .virtualenvs, .local/share/hatch, .cache/hatch,
    .cache/pdm, .local/share/pdm, .rye/py, .rye/self, .rye/shims, .rye/tools, .conda/envs, .conda/pkgs, miniconda3, anaconda3, miniforge3, mambaforge,
    micromamba, .local/share/mamba, .cache/pre-commit, .cache/prek, .cache/huggingface, .cache/torch, .cache/ruff,
    .cache/mypy, nltk_data`),
  // Rust, Go, C and C++
  ...listed(`.cargo/bin, .cargo/env, .cargo/registry, .cargo/git, .rustup, go/bin, go/pkg, .go, sdk, .goenv, .gvm,
    .local/go, .cache/go-build, .cache/golangci-lint, .cache/ccache, .ccache, .cache/sccache, .cache/bazel, .cache/bazelisk,
    .cache/meson, .cache/vcpkg, .conan2/p, .cache/zig, .zvm, .zigup, .cache/nim, .nimble/bin, .nimble/pkgs2, .choosenim,
    .cache/llvm`),
  // Java, Kotlin, Scala and Clojure
  ...listed(`.sdkman, .jenv, .jdks, .jbang/bin, .jbang/cache, .m2/repository, .m2/wrapper, .mvnd, .gradle/caches, .gradle/wrapper,
    .gradle/jdks, .gradle/native, .konan, .ivy2/cache, .ivy2/local, .sbt/boot, .sbt/launchers, .cache/coursier,
    .local/share/coursier, .cache/scalacli, .gitlibs/libs, .lein/self-installs, Android/Sdk`),
  // Ruby, PHP and Perl
  ...listed(`.rbenv, .ruby-version, .rvm, .rubies, .gem/ruby, .local/share/gem/ruby, .bundle/cache, .cache/bundle,
    .composer/vendor, .composer/cache, .config/composer/vendor, .cache/composer, .phpenv, .phpbrew, .phive, perl5, .plenv,
    .perlbrew, .cpanm/build`),
  // .NET, Swift, Dart and others
  ...listed(`.dotnet, .nuget/packages, .local/share/NuGet/v3-cache, .swiftly, .local/share/swiftly, .cache/org.swift.swiftpm,
    .pub-cache, flutter, .fvm, fvm, .opam, .ghcup, .cabal/bin, .cabal/packages, .cabal/store, .local/state/cabal/store,
    .stack/programs, .stack/snapshots, .stack/pantry, .julia/packages, .julia/artifacts, .julia/compiled,
    .julia/registries, .julia/juliaup, .juliaup, R, .mix, .hex/packages, .cache/rebar3, .kerl, .kiex, .elan,
    .luarocks/bin, .luarocks/lib, .luarocks/share, .cache/crystal, .terraform.d/plugin-cache, .tfenv, .tenv, .krew`),
  // settings that say nothing but how to work; git's own only if they look like that
  ...listed(`.gitconfig, .config/git/config, .config/git/ignore, .config/git/attributes, .gitignore, .gitignore_global,
    .gitattributes, .editorconfig, .hushlogin, .terminfo, .local/share/terminfo, .fonts, .local/share/fonts,
    .config/fontconfig, .cache/fontconfig`),
  // macOS
  ...listed(`Library/Caches/Homebrew, Library/Caches/Yarn, Library/Caches/pip, Library/Caches/uv, Library/Caches/go-build,
    Library/Caches/pnpm, Library/Caches/deno, Library/Caches/ms-playwright, Library/pnpm, Library/Python,
    Library/Java/JavaVirtualMachines, Library/Android/sdk, Library/Application Support/fnm`),
];

/** Settings of git, which can hold a password. */
export const GIT_SETTINGS: readonly string[] = [".gitconfig", ".config/git/config"];

/** True if git's settings hold nothing that looks like a password, such as one in an address or a header. */
export function isPlainGitConfig(text: string): boolean {
  return !/extraheader|token|passw|secret|gh[oprsu]_|github_pat_|glpat-|:\/\/[^\s/"]*@/i.test(text);
}

function listed(paths: string): string[] {
  return paths.split(",").map((path) => path.trim());
}

/** Shell lines that try to leave something behind that git, an editor or a shell runs later, without the sandbox. */

const EVIL = `#!/bin/sh
touch "$SANDBOX_HOME/EXECUTED"
exit 0
`;

/** Functions for all of them; `SANDBOX_HOME` becomes the path of the marker's folder. */
export function attackScript(home: string, targets: readonly string[], steps: readonly string[]) {
  const evil = EVIL.replace("$SANDBOX_HOME", home);
  return `
EVIL='${evil}'
poison() { mkdir -p "$(dirname "$1")"; rm -f "$1"; printf '%s' "$EVIL" > "$1"; chmod 755 "$1"; }
config() { printf '[core]\\n\\trepositoryformatversion = 0\\n\\thooksPath = %s/evil\\n\\tfsmonitor = touch ${home}/EXECUTED; false\\n\\teditor = touch ${home}/EXECUTED; false\\n' "$PWD" > "$1"; }
repository() { mkdir -p "$1/objects" "$1/refs"; echo 'ref: refs/heads/main' > "$1/HEAD"; config "$1/config"; mkdir -p "$1/hooks"; poison "$1/hooks/pre-commit"; }
targets() { ${targets.map((path) => `poison '${path}'; poison '${path.replaceAll("'", "")}/pre-commit'`).join("; ")}; true; }
targets
poison evil/pre-commit; poison evil/post-commit
{ ${steps.join("\n")}
} 2>/dev/null
true`;
}

const FOLDERS = "tools nested deep deep/er lib main pkg .";

export const STEPS: readonly string[] = [
  // what is there
  "config .git/config; poison .git/hooks/pre-commit; config .gitconfig; for d in nested lib main; do config $d/.git/config; poison $d/.git/hooks/pre-commit; done",
  "echo 'gitdir: evil' > .git; repository evil; echo ../../evil > .git/commondir",
  // new repositories
  "for d in aa aa/bb nested/cc; do mkdir -p $d; repository $d/.git; touch $d/.envrc; done",
  "repository bare; repository nested/bare; echo ../x > bare/commondir",
  "mkdir -p link; repository link/x; ln -s x link/.git; ln -s ../evil link/.vscode",
  "repository sep; mkdir -p sepw; echo 'gitdir: ../sep' > sepw/.git",
  // folders that are renamed and made again
  `for d in ${FOLDERS}; do mv $d $d.old && mkdir $d && repository $d/.git; done; targets`,
  "mkdir -p up; for d in tools nested deep lib main; do mv $d up/$d; done; targets; repository up/.git; poison up/tools/hooks/pre-commit",
  "mv nested/.git nested/.old; mv main/.git main/.old; mv lib/.git lib/.old; repository nested/.git",
  "mv tools tools.old; mkdir -p plain/hooks; for f in pre-commit post-commit; do poison plain/hooks/$f; done; for f in fsm fsm.sh clean editor gpg diff alias; do poison plain/$f; done; ln -s plain tools",
  "rm -rf tools; mkdir real; ln -s real tools; targets",
  // rights
  "mkdir -p shut; repository shut/.git; touch shut/.envrc; chmod 311 shut",
  "mkdir -p gone/in; repository gone/in/.git; chmod 000 gone/in; chmod 100 gone",
  "mkdir -p listed; repository listed/.git; chmod 644 listed",
  `for d in ${FOLDERS}; do chmod 311 $d; done`,
  `for d in ${FOLDERS}; do chmod 000 $d; done`,
  `for d in nested deep tools; do mkdir -p $d/new; repository $d/new/.git; chmod 311 $d/new $d; done`,
  // paths that are long, and many
  "p=$PWD; n=$(printf 'n%.0s' $(seq 200)); for i in $(seq 25); do mkdir $n && cd $n || break; done; repository .git; touch .envrc; cd $p",
  "mkdir many; cd many; seq 3000 | xargs touch; cd ..; for i in 1 2 3 4 5; do mkdir -p lib$i; repository lib$i/.git; touch lib$i/.envrc; done",
  "repository a\\\\b/.git; repository 'a b/.git'; d=$(printf 'x\\ny'); mkdir \"$d\"; repository \"$d/.git\"",
  "touch .envrc AGENTS.md CLAUDE.md; mkdir -p .vscode sub/.idea sub/.GIT; echo x > .gitattributes; echo x > sub/.mcp.json",
];

export type Shell = "bash" | "zsh" | "fish";

/**
 * Each calls `reprise complete` with the words up to the cursor. It answers with lines of a value, a tab and
 * what it means; the line `:files` asks for names of files. No text of an answer is evaluated by the shell.
 */
export const SCRIPTS: Readonly<Record<Shell, string>> = {
  bash: `# Completion of reprise for bash.
_reprise() {
  local line="\${COMP_LINE:0:COMP_POINT}" word value files= before
  local -a words=()
  read -ra words <<< "$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  word="\${words[\${#words[@]} - 1]}"
  # bash takes : and = for the end of a word, and replaces what comes after
  before=
  [[ $word == *[:=]* && $COMP_WORDBREAKS == *[:=]* ]] && before="\${word%"\${word##*[:=]}"}"
  COMPREPLY=()
  while IFS=$'\\t' read -r value _; do
    if [[ $value == :files ]]; then
      files=1
    elif [[ $value == "$word"* ]]; then
      COMPREPLY+=("\${value#"$before"}")
    fi
  done < <("\${COMP_WORDS[0]}" complete -- "\${words[@]:1}" 2> /dev/null)
  if [[ $files ]]; then
    compopt -o default 2> /dev/null
  elif [[ \${#COMPREPLY[@]} == 1 && \${COMPREPLY[0]} == *: ]]; then
    compopt -o nospace 2> /dev/null
  fi
}
complete -F _reprise reprise
`,
  zsh: `#compdef reprise
# Completion of reprise for zsh.
_reprise() {
  local line files=
  local -a found
  for line in "\${(@f)$("\${(Q)words[1]}" complete -- "\${(@Q)words[2,CURRENT]}" 2> /dev/null)}"; do
    if [[ $line == :files ]]; then
      files=1
    elif [[ -n $line ]]; then
      found+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
    fi
  done
  (( \${#found} )) && _describe reprise found
  if [[ -n $files ]]; then _files; fi
}
if [[ $funcstack[1] == _reprise ]]; then
  _reprise "$@"
else
  compdef _reprise reprise
fi
`,
  fish: `# Completion of reprise for fish.
function __reprise_complete
  set -l words (commandline -opc)
  set -l current (commandline -ct)
  for line in ($words[1] complete -- $words[2..-1] "$current" 2> /dev/null)
    if test "$line" = :files
      __fish_complete_path "$current"
    else
      printf '%s\\n' "$line"
    end
  end
end
complete -c reprise -f -a '(__reprise_complete)'
`,
};

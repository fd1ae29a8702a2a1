/** Below a home folder: credentials, other agents' folders and browser profiles. */
const IN_HOME = listed(`
  .ssh, .gnupg, .pki, .age, .config/age, .config/sops, .config/Bitwarden CLI, .config/keepassxc, .config/1Password, .password-store, .local/share/keyrings, .config/op, .aws, .azure, .config/gcloud,
  .boto, .s3cfg, .oci, .config/doctl, .fly, .kube, .docker, .config/containers/auth.json, .config/helm, .config/rclone,
  .config/configstore, .config/hcloud, .config/scw, .config/stripe, .config/ngrok, .config/ngrok2, .ngrok2, .cloudflared, .wrangler,
  .config/.wrangler, .config/netlify, .local/share/com.vercel.cli, .config/heroku, .pulumi/credentials.json,
  .databrickscfg, .snowflake, .snowsql, .kaggle, .sentryclirc, .huggingface, .cache/huggingface/token,
  .cache/huggingface/stored_tokens, .ansible/vault_pass, .vault_pass, .subversion/auth, .msmtprc, .mbsyncrc, .config/msmtp,
  .config/Slack, .config/Signal, .config/discord, .config/Code/User/globalStorage, .config/Cursor,
  .vault-token, .npmrc, .yarnrc, .yarnrc.yml, .pypirc, .config/pip, .pip, .gem/credentials,
  .cargo/credentials, .cargo/credentials.toml, .m2/settings.xml, .gradle/gradle.properties,
  .m2/settings-security.xml, .composer/auth.json, .config/composer/auth.json, .nuget/NuGet, .netrc,
  .git-credentials, .config/git/credentials, .config/gh, .config/glab-cli, .config/hub, .terraform.d/credentials.tfrc.json,
  .terraformrc, .pgpass, .my.cnf, .mongorc.js, .bash_history, .zsh_history, .local/share/fish,
  .node_repl_history, .python_history, .psql_history, .mysql_history, .sqlite_history,
  .rediscli_history, .irb_history, .local/share/nu, .config/nushell/history.txt, .bash_sessions, .zsh_sessions, .zhistory, .Xauthority,
  .ICEauthority, .claude, .claude.json, .codex, .gemini, .cursor, .copilot, .aider, .qwen, .continue,
  .codeium, .config/opencode, .local/share/opencode, .config/goose, .config/github-copilot, .config/crush,
  .config/zed, .local/share/zed, .mozilla, .config/google-chrome, .config/chromium, .config/BraveSoftware,
  .config/microsoft-edge, .config/vivaldi, .config/opera, .thunderbird, snap/firefox, snap/chromium,
  .var/app, Library/Keychains, Library/Cookies, Library/Application Support/Google/Chrome,
  Library/Application Support/Firefox, Library/Safari, Library/Application Support/Claude
`);

/** What only the administrator can read, and a command of the administrator could. */
const OF_SYSTEM = listed(`
  /etc/shadow, /etc/shadow-, /etc/gshadow, /etc/gshadow-, /etc/sudoers.d, /etc/ssh/ssh_host_rsa_key,
  /etc/ssh/ssh_host_ecdsa_key, /etc/ssh/ssh_host_ed25519_key, /etc/kubernetes, /etc/rancher,
  /var/lib/kubelet, /var/lib/rancher, /var/lib/docker, /etc/letsencrypt, /etc/ssl/private,
  /etc/NetworkManager/system-connections, /etc/wireguard, /etc/openvpn, /etc/krb5.keytab, /etc/ppp/chap-secrets,
  /etc/wpa_supplicant, /etc/ipsec.secrets, /etc/openldap/slapd.d, /var/lib/postgresql, /var/lib/mysql, /var/spool/cron
`);

/** What commands do not see, whether or not it exists. `homes` are absolute paths. */
export function hiddenPaths(homes: readonly string[]): readonly string[] {
  return [...homes.flatMap((home) => IN_HOME.map((path) => `${home}/${path}`)), ...OF_SYSTEM];
}

function listed(paths: string): string[] {
  return paths.split(",").map((path) => path.trim());
}

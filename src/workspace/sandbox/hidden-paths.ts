/**
 * Below a home folder: credentials, other agents' folders, browser profiles and histories. They are hidden also in what is
 * visible of it.
 */
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
  Library/Application Support/Firefox, Library/Safari, Library/Application Support/Claude,
  .env, .config/Bitwarden, .electrum, .bitcoin, .ethereum, .local/share/uv/credentials, .supabase, .databricks, .netlify,
  .minikube, .config/kaggle, .android, .mylogin.cnf, .authinfo, .authinfo.gpg, .dockercfg, .smbcredentials, .bundle/config,
  .ivy2/.credentials, .sbt/.credentials, .sbt/1.0, .fetchmailrc, .offlineimaprc, .getmail, .expo, .config/coursier/credentials.properties,
  .rye/credentials, .rye/config.toml, .config/pypoetry/auth.toml, .local/share/gem/credentials, .hex/hex.config, .pub-cache/credentials.json,
  .dotnet/corefx, .cabal/config, .condarc, miniconda3/.condarc, anaconda3/.condarc, miniforge3/.condarc, mambaforge/.condarc,
  .continuum, .rattler, .cargo/config, .cargo/config.toml, .config/uv, .luarocks/upload_config.lua, .config/mise, .config/fish,
  .bashrc, .bash_profile, .bash_login, .profile, .zshrc, .zshenv, .zprofile, .zlogin, .config/zsh, .kshrc, .cshrc, .tcshrc,
  .xonshrc, .config/environment.d, .pam_environment, .local/share/zsh, .local/share/atuin, .config/atuin, .xonsh_history,
  .local/share/xonsh, .viminfo, .lesshst, .mongodb, .local/share/nvim/shada, .local/state/nvim, .wget-hsts, .curlrc, .wgetrc,
  .config/autostart, .crush, .local/share/crush, .amp, .config/amp, .kiro, .roo, .cline, .windsurf, .config/Windsurf,
  .factory, .augment, .junie, .trae, .openhands, .config/openai, .config/anthropic, .ollama/id_ed25519, .lmstudio,
  .cache/gh, .local/share/gnupg, .config/gnupg, .config/linode-cli, .config/vultr-cli.yaml, .config/turso, .config/flyctl,
  .railway, .render, .config/sentry, .config/gws, .config/nats, .config/step, .step, .local/share/step, .terraform.d/credentials, .config/infracost,
  .config/BraveSoftware-Beta, .config/thunderbird, .config/evolution, .local/share/evolution, .config/obsidian, .config/Element,
  .local/share/TelegramDesktop, .config/skypeforlinux, .config/teams
`);

/** Paths that only the administrator can read, and a command of the administrator could. */
const OF_SYSTEM = listed(`
  /etc/shadow, /etc/shadow-, /etc/gshadow, /etc/gshadow-, /etc/sudoers.d, /etc/ssh/ssh_host_rsa_key,
  /etc/ssh/ssh_host_ecdsa_key, /etc/ssh/ssh_host_ed25519_key, /etc/kubernetes, /etc/rancher,
  /var/lib/kubelet, /var/lib/rancher, /var/lib/docker, /etc/letsencrypt, /etc/ssl/private,
  /etc/NetworkManager/system-connections, /etc/wireguard, /etc/openvpn, /etc/krb5.keytab, /etc/ppp/chap-secrets,
  /etc/wpa_supplicant, /etc/ipsec.secrets, /etc/openldap/slapd.d, /var/lib/postgresql, /var/lib/mysql, /var/spool/cron
`);

/** Returns the paths that commands do not see, whether or not they exist. `homes` are absolute paths. */
export function hiddenPaths(homes: readonly string[]): readonly string[] {
  return [...homes.flatMap((home) => IN_HOME.map((path) => `${home}/${path}`)), ...OF_SYSTEM];
}

function listed(paths: string): string[] {
  return paths.split(",").map((path) => path.trim());
}

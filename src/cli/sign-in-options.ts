import type { Command } from 'commander'

/** Flags of `assay serve` that say how people sign in at the web page. */
export function addSignInOptions(command: Command): void {
  command
    .option(
      '--password-sign-in <on|off>',
      'whether passwords sign people in at the web page (ASSAY_PASSWORD_SIGN_IN; default: on)',
    )
    .option(
      '--key-sign-in <on|off>',
      'whether API keys do; that of ASSAY_BOOTSTRAP_KEY always does (ASSAY_KEY_SIGN_IN; default: as passwords)',
    )
    .option('--oidc-issuer <url>', 'provider of OpenID Connect to sign in by (ASSAY_OIDC_ISSUER)')
    .option('--oidc-client-id <id>', 'what this service is called there (ASSAY_OIDC_CLIENT_ID)')
    .option(
      '--oidc-client-secret-file <file>',
      'its secret; or ASSAY_OIDC_CLIENT_SECRET (ASSAY_OIDC_CLIENT_SECRET_FILE)',
    )
    .option(
      '--oidc-scopes <scopes>',
      'what is asked for (ASSAY_OIDC_SCOPES; default: openid email profile)',
    )
    .option('--oidc-label <text>', 'of the button (ASSAY_OIDC_LABEL; default: Single sign-on)')
    .option(
      '--oidc-groups-claim <name>',
      'claim that has a person’s groups (ASSAY_OIDC_GROUPS_CLAIM; default: they are not taken over)',
    )
    .option(
      '--oidc-groups <pairs>',
      'groups by other names than here: staff=Engineers,ops=Owners (ASSAY_OIDC_GROUPS)',
    )
    .option(
      '--oidc-required-group <name>',
      'only who is in this group of the provider gets in (ASSAY_OIDC_REQUIRED_GROUP)',
    )
    .option(
      '--oidc-join-domains <domains>',
      'people with verified addresses there need no invitation (ASSAY_OIDC_JOIN_DOMAINS)',
    )
    .option(
      '--oidc-new-member-groups <names>',
      'groups for who joins without an invitation (ASSAY_OIDC_NEW_MEMBER_GROUPS)',
    )
    .option(
      '--oidc-owners <addresses>',
      'who becomes an owner by signing in for the first time (ASSAY_OIDC_OWNERS)',
    )
    .option(
      '--oidc-trust-emails <on|off>',
      'whether addresses count where the provider does not say if they are verified (ASSAY_OIDC_TRUST_EMAILS; default: off)',
    )
    .option(
      '--oidc-session-hours <count>',
      'after which the provider is asked again (ASSAY_OIDC_SESSION_HOURS; default: 24)',
    )
    .option(
      '--oidc-organization <name>',
      'that people join (ASSAY_OIDC_ORGANIZATION; default: the oldest)',
    )
}

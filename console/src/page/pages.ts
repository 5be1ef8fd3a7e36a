/** Where a page is: `<Link {...pages.run(org, id)}>`, `navigate(pages.run(org, id))`. */
export type PageAddress = { to: string; params: { org: string; id?: string } }

function inOrganization<const To extends string>(to: To) {
  return (org: string) => ({ to, params: { org } })
}

function withId<const To extends string>(to: To) {
  return (org: string, id: string) => ({ to, params: { org, id } })
}

/** The pages of an organization. The filters of a list are the `search` beside it. */
export const pages = {
  home: inOrganization('/orgs/$org'),
  repository: inOrganization('/orgs/$org/repository'),
  runs: inOrganization('/orgs/$org/runs'),
  run: withId('/orgs/$org/runs/$id'),
  deployments: inOrganization('/orgs/$org/deployments'),
  deployment: withId('/orgs/$org/deployments/$id'),
  issues: inOrganization('/orgs/$org/security/issues'),
  issue: withId('/orgs/$org/security/issues/$id'),
  findings: inOrganization('/orgs/$org/security/findings'),
  finding: withId('/orgs/$org/security/findings/$id'),
  alerts: inOrganization('/orgs/$org/security/alerts'),
  alert: withId('/orgs/$org/security/alerts/$id'),
  triages: inOrganization('/orgs/$org/security/triage'),
  uploads: inOrganization('/orgs/$org/security/uploads'),
  upload: withId('/orgs/$org/security/uploads/$id'),
  components: inOrganization('/orgs/$org/inventory'),
  component: withId('/orgs/$org/inventory/$id'),
  vulnerability: withId('/orgs/$org/vulnerabilities/$id'),
  digest: withId('/orgs/$org/digests/$id'),
  results: inOrganization('/orgs/$org/compliance'),
  result: inOrganization('/orgs/$org/compliance/results'),
  policies: inOrganization('/orgs/$org/compliance/policies'),
  newPolicy: inOrganization('/orgs/$org/compliance/policies/new'),
  policy: withId('/orgs/$org/compliance/policies/$id'),
  changes: inOrganization('/orgs/$org/provenance'),
  change: withId('/orgs/$org/provenance/changes/$id'),
  lineages: inOrganization('/orgs/$org/provenance/lineage'),
  lineage: withId('/orgs/$org/provenance/lineage/$id'),
  keys: inOrganization('/orgs/$org/provenance/keys'),
  settings: inOrganization('/orgs/$org/settings'),
  general: inOrganization('/orgs/$org/settings/general'),
  members: inOrganization('/orgs/$org/settings/members'),
  roles: inOrganization('/orgs/$org/settings/roles'),
  singleSignOn: inOrganization('/orgs/$org/settings/single-sign-on'),
  apiKeys: inOrganization('/orgs/$org/settings/api-keys'),
  oidcTrusts: inOrganization('/orgs/$org/settings/oidc-trusts'),
  codeHosts: inOrganization('/orgs/$org/settings/code-hosts'),
  deliveries: inOrganization('/orgs/$org/settings/code-hosts/deliveries'),
  delivery: withId('/orgs/$org/settings/code-hosts/deliveries/$id'),
  gates: inOrganization('/orgs/$org/settings/gates'),
  newGate: inOrganization('/orgs/$org/settings/gates/new'),
  gate: withId('/orgs/$org/settings/gates/$id'),
  environments: inOrganization('/orgs/$org/settings/environments'),
  usage: inOrganization('/orgs/$org/settings/usage'),
  auditLog: inOrganization('/orgs/$org/settings/audit-log'),
}

/** The address as text, for what is not a link of the router. */
export function formatAddress({ to, params }: PageAddress): string {
  return to.replace('$org', params.org).replace('$id', params.id ?? '')
}

import { getEmailDomain, toEmail, toUserName } from '../user.ts'

/** A value of the role claim, and the role of people who have it. */
type RoleMapping = { value: string; role: string }

/** Whom a provider may bring in, and with which role. */
export type AdmissionRules = {
  /** Empty: every verified address. */
  email_domains: readonly string[]
  creates_accounts: boolean
  default_role: string | null
  role_claim: string | null
  role_map: readonly RoleMapping[]
}

/** An OpenID provider: of an organization, or of the server (`org_id` is null). */
export type Provider = AdmissionRules & {
  org_id: string | null
  issuer: string
  client_id: string
  client_secret: string
  /** The organization that new accounts join. */
  joined_org_id: string | null
}

export type IdClaims = { sub: string; [name: string]: unknown }

/** The email address that the provider has verified, in its stored form; otherwise null. */
export function getVerifiedEmail({ email, email_verified: verified }: IdClaims): string | null {
  return verified === true && typeof email === 'string' ? toEmail(email) : null
}

export function isAllowedDomain({ email_domains }: AdmissionRules, email: string | null): boolean {
  return email_domains.length === 0 || (email !== null && email_domains.includes(getEmailDomain(email)))
}

/** The role that the claims give now, or null. The first mapping that fits decides. */
export function selectRole({ role_claim, role_map, default_role }: AdmissionRules, claims: IdClaims): string | null {
  const given = role_claim === null ? [] : [claims[role_claim]].flat()
  return role_map.find(({ value }) => given.includes(value))?.role ?? default_role
}

/** The name of a new account. */
export function selectUserName(claims: IdClaims, email: string): string {
  const names = [claims.name, claims.preferred_username].filter((name) => typeof name === 'string')
  return toUserName([...names, email])
}

/** A path of this server, where a sign-in may lead to; otherwise the start page. */
export function toOwnPath(next: string | undefined, baseUrl: string): string {
  if (next === undefined || !/^\/(?![/\\])[^\\\s\p{Cc}]{0,2000}$/u.test(next)) return '/'
  const { origin, pathname, search, hash } = new URL(next, baseUrl)
  // A path such as /.//host becomes //host, which browsers read as another host.
  return origin === new URL(baseUrl).origin && !pathname.startsWith('//') ? pathname + search + hash : '/'
}

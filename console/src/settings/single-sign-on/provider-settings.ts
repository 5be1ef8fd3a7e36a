import type { paths } from '../../api/schema.ts'

export const SSO_PATH = '/app/api/orgs/{org}/single-sign-on'

type Operations = paths[typeof SSO_PATH]
export type ProviderSettings = Operations['get']['responses'][200]['content']['application/json']['data']
export type NewSettings = Operations['put']['requestBody']['content']['application/json']

/** What the form holds: texts in place of what may be absent. */
export type SsoValues = {
  issuer: string
  client_id: string
  client_secret: string
  email_domains: string[]
  creates_accounts: boolean
  default_role: string
  role_claim: string
  role_map: { value: string; role: string }[]
}

export function toValues(settings: ProviderSettings | null): SsoValues {
  return {
    issuer: settings?.issuer ?? '',
    client_id: settings?.client_id ?? '',
    client_secret: '',
    email_domains: settings?.email_domains ?? [],
    creates_accounts: settings?.creates_accounts ?? false,
    default_role: settings?.default_role ?? '',
    role_claim: settings?.role_claim ?? '',
    role_map: settings?.role_map ?? [],
  }
}

/** An empty secret keeps the stored one. */
export function toBody({ client_secret, default_role, role_claim, ...values }: SsoValues): NewSettings {
  return {
    ...values,
    issuer: values.issuer.trim(),
    client_id: values.client_id.trim(),
    default_role: default_role || null,
    role_claim: role_claim.trim() || null,
    ...(client_secret && { client_secret }),
  }
}

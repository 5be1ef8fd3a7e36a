/** The addresses of the APIs of Azure DevOps. */
export type AzureUrls = {
  /** `https://dev.azure.com`, without a slash at its end. */
  main: string
  /** The API of Advanced Security. */
  security: string
  /** Microsoft Entra, which issues tokens for service principals. */
  entra: string
}

const SERVICES_URL = 'https://dev.azure.com'
const SECURITY_URL = 'https://advsec.dev.azure.com'

/** With another address than that of Azure DevOps Services, all APIs are under this one. */
export function azureUrls(url: string, entraUrl: string): AzureUrls {
  const main = withoutSlash(url)
  return { main, security: main === SERVICES_URL ? SECURITY_URL : main, entra: withoutSlash(entraUrl) }
}

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, '')
}

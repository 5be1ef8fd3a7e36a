import { verifyMailServer } from '../access/mail/send-mail.ts'
import { findServerProvider } from '../access/sso/find-provider.ts'
import { openIssuer } from '../access/sso/open-issuer.ts'
import { checkOpa } from '../compliance/engines/opa-server.ts'
import type { Config } from '../config.ts'
import type { Services } from '../services.ts'
import type { Check, Result } from './doctor-finding.ts'

/** The checks of other servers that the settings name. */
export function defineServiceChecks({ opaUrl, smtp, sso }: Config): Check[] {
  return [
    ...(opaUrl === null ? [] : [{ check: 'opa', examine: () => checkOpaServer(opaUrl) } as const]),
    ...(smtp === null ? [] : [{ check: 'mail', examine: checkMail } as const]),
    ...(sso === null ? [] : [{ check: 'identity provider', examine: checkIssuer } as const]),
  ]
}

async function checkOpaServer(url: string): Promise<Result> {
  await checkOpa(url)
  return { ok: true, detail: `the OPA server at ${url} answers` }
}

async function checkMail({ config }: Services): Promise<Result> {
  await verifyMailServer(config)
  return { ok: true, detail: 'the mail server accepts us' }
}

async function checkIssuer(services: Services): Promise<Result> {
  const provider = await findServerProvider(services)
  if (provider) await openIssuer(services, provider)
  return { ok: true, detail: `${provider?.issuer} answers` }
}

import type { Services } from '../../../services.ts'
import { refreshThreats } from './refresh-threats.ts'
import { regroupDue } from './regroup-due.ts'

/** Hears that what is known of vulnerabilities has changed, and brings the issues in line with it. */
export async function followIntel(services: Services): Promise<void> {
  await refreshThreats(services)
  await regroupDue(services)
}

import type { Services } from '../services.ts'
import { regroupDue } from './grouping/regroup-due.ts'
import { refreshThreats } from './refresh-threats.ts'

/** Hears that what is known of vulnerabilities has changed, and brings the issues in line with it. */
export async function followIntel(services: Services): Promise<void> {
  await refreshThreats(services)
  await regroupDue(services)
}

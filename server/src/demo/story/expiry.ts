import { settleWaiting } from '../../deployments/decisions/decide-deployment.ts'
import { EXPIRED } from '../../deployments/deployment-state.ts'
import type { Demo } from '../world/demo.ts'

/** A deployment that nobody has answered in time ends, as the job of the worker ends it. */
export async function expireDeployment(demo: Demo, id: string): Promise<void> {
  const { services, source } = demo
  await services.sql.begin((tx) => settleWaiting(services, tx, { org_id: source.org_id, id }, EXPIRED))
  await demo.settle()
}

import type { Schema } from '../api/client.ts'

export type DeploymentStatus = Schema<'Deployment'>['status']

/** The statuses that a list can be filtered by, in the order in which a deployment passes them. */
export const DEPLOYMENT_STATUSES = [
  'pending_approval',
  'approved',
  'rejected',
  'in_progress',
  'success',
  'failure',
  'cancelled',
  'expired',
  'rolled_back',
] as const satisfies DeploymentStatus[]

export const STATUS_NAMES: Record<DeploymentStatus, string> = {
  pending_approval: 'Waiting',
  approved: 'Approved',
  rejected: 'Rejected',
  in_progress: 'Deploying',
  success: 'Deployed',
  failure: 'Failed',
  cancelled: 'Cancelled',
  expired: 'Expired',
  rolled_back: 'Rolled back',
}

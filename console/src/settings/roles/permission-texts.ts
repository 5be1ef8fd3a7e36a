import type { Permission } from '../../api/session.ts'

/** What somebody with the permission can do, in the order of the matrix (console.md §2). */
export const PERMISSION_TEXTS: Record<Permission, string> = {
  view: 'See runs, deployments, compliance, findings, issues, alerts and provenance.',
  upload_security_reports: 'Upload reports of scanners and SBOMs.',
  triage: 'Dismiss, reopen, split and merge findings and issues.',
  answer_deployment_gates: 'Approve and reject deployments.',
  override_compliance: 'Let a deployment through that a policy blocks, with a reason.',
  manage_gates: 'Decide which deployments wait, and for what.',
  manage_policies: 'Write, try, apply and delete policies.',
  read_audit_log: 'See and export who changed what.',
  manage_integrations: 'Create API keys and OIDC trusts, connect code hosts.',
  manage_members: 'Invite people, change roles, set up single sign-on.',
}

export const PERMISSIONS = Object.keys(PERMISSION_TEXTS) as Permission[]

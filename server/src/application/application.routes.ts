import type { HttpServer } from '../platform/http/http-server.ts'
import type { Services } from '../services.ts'
import { accountRoutes } from './account/account.routes.ts'
import { ownSessionRoutes } from './account/own-session.routes.ts'
import { passkeyRoutes } from './account/passkey.routes.ts'
import { apiKeyRoutes } from './api-keys/api-key.routes.ts'
import { downloadRoutes } from './artifacts/download.routes.ts'
import { auditLogRoutes } from './audit-log/audit-log.routes.ts'
import { chartRoutes } from './charts/chart.routes.ts'
import { codeHostRoutes } from './code-hosts/code-host.routes.ts'
import { codeHostSetupRoutes } from './code-hosts/code-host-setup.routes.ts'
import { deliveryRoutes } from './code-hosts/delivery.routes.ts'
import { deploymentBoardRoutes } from './deployments/board.routes.ts'
import { deploymentDecisionRoutes } from './deployments/decision.routes.ts'
import { eventRoutes } from './events/event.routes.ts'
import { configuredGateRoutes } from './gates/gate.routes.ts'
import { linkRoutes } from './links/link.routes.ts'
import { invitationRoutes } from './members/invitation.routes.ts'
import { memberRoutes } from './members/member.routes.ts'
import { organizationRoutes } from './members/organization.routes.ts'
import { oidcTrustRoutes } from './oidc-trusts/oidc-trust.routes.ts'
import { repositoryListRoutes } from './overview/repository-list.routes.ts'
import { policyRoutes } from './policies/policy.routes.ts'
import { policyChangeRoutes } from './policies/policy-change.routes.ts'
import { roleRoutes } from './roles/role.routes.ts'
import { runReportRoutes } from './runs/run-report.routes.ts'
import { savedViewRoutes } from './saved-views/saved-view.routes.ts'
import { sessionRoutes } from './sign-in/session.routes.ts'
import { signInRoutes } from './sign-in/sign-in.routes.ts'
import { singleSignOnRoutes } from './single-sign-on/single-sign-on.routes.ts'
import { ssoSignInRoutes } from './single-sign-on/sso-sign-in.routes.ts'
import { issueEditRoutes } from './triage/issue-edit.routes.ts'
import { triageRoutes } from './triage/triage.routes.ts'
import { usageRoutes } from './usage/usage.routes.ts'

/** The routes of people, under /app/api, beside those that /v1 shares with them. */
export async function applicationRoutes(app: HttpServer, services: Services): Promise<void> {
  await app.register(accountRoutes, services)
  await app.register(apiKeyRoutes, services)
  await app.register(auditLogRoutes, services)
  await app.register(chartRoutes, services)
  await app.register(codeHostRoutes, services)
  await app.register(configuredGateRoutes, services)
  await app.register(deliveryRoutes, services)
  await app.register(deploymentBoardRoutes, services)
  await app.register(deploymentDecisionRoutes, services)
  await app.register(downloadRoutes, services)
  await app.register(eventRoutes, services)
  await app.register(invitationRoutes, services)
  await app.register(issueEditRoutes, services)
  await app.register(linkRoutes, services)
  await app.register(memberRoutes, services)
  await app.register(oidcTrustRoutes, services)
  await app.register(organizationRoutes, services)
  await app.register(ownSessionRoutes, services)
  await app.register(passkeyRoutes, services)
  await app.register(repositoryListRoutes, services)
  await app.register(roleRoutes, services)
  await app.register(runReportRoutes, services)
  await app.register(savedViewRoutes, services)
  await app.register(sessionRoutes, services)
  await app.register(signInRoutes, services)
  await app.register(triageRoutes, services)
  await app.register(ssoSignInRoutes, services)
  await app.register(singleSignOnRoutes, services)
  await app.register(policyRoutes, services)
  await app.register(policyChangeRoutes, services)
  await app.register(codeHostSetupRoutes, services)
  await app.register(usageRoutes, services)
}

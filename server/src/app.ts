import type { FastifyInstance } from 'fastify'
import { apiKeyRoutes } from './access/api-keys/api-key.routes.ts'
import { ListedApiKey } from './access/api-keys/api-key.schema.ts'
import { auditLogRoutes } from './access/audit-log/audit-log.routes.ts'
import { applicationDescription } from './access/gateway/application-description.ts'
import { registerAuthorization } from './access/gateway/authorize.ts'
import { registerPeople } from './access/gateway/authorize-people.ts'
import { registerAccessDescriptions } from './access/gateway/describe-access.ts'
import { registerOpenToPeople } from './access/gateway/open-to-people.ts'
import { linkRoutes } from './access/links/link.routes.ts'
import { invitationRoutes } from './access/members/invitation.routes.ts'
import { memberRoutes } from './access/members/member.routes.ts'
import { organizationRoutes } from './access/members/organization.routes.ts'
import { roleRoutes } from './access/members/role.routes.ts'
import { oidcTrustRoutes } from './access/oidc-trusts/trusts/oidc-trust.routes.ts'
import { ListedTrust } from './access/oidc-trusts/trusts/trust.schema.ts'
import { accountRoutes } from './access/sign-in/account.routes.ts'
import { ownSessionRoutes } from './access/sign-in/own-session.routes.ts'
import { passkeyRoutes } from './access/sign-in/passkey.routes.ts'
import { sessionRoutes } from './access/sign-in/session.routes.ts'
import { signInRoutes } from './access/sign-in/sign-in.routes.ts'
import { singleSignOnRoutes } from './access/sso/single-sign-on.routes.ts'
import { ssoSignInRoutes } from './access/sso/sso-sign-in.routes.ts'
import { ingestRoutes } from './ci/ingest/ingest.routes.ts'
import { pipelineRunRoutes } from './ci/pipeline-runs/pipeline-run.routes.ts'
import { PipelineRun } from './ci/pipeline-runs/pipeline-run.schema.ts'
import { runReportRoutes } from './ci/pipeline-runs/run-report.routes.ts'
import { RunJob } from './ci/provider-runs/run-job.schema.ts'
import { reportRoutes } from './ci/reports/report.routes.ts'
import { CiReportResult } from './ci/reports/report.schema.ts'
import { ListedReport, StoredArtifact, StoredReport } from './ci/reports/stored-report.schema.ts'
import { runRoutes } from './ci/runs/run.routes.ts'
import { CiRun } from './ci/runs/run.schema.ts'
import { webhookRoutes } from './codehosts/deliveries/webhook.routes.ts'
import { hostRoutes } from './codehosts/hosts/host.routes.ts'
import { codeHostRoutes } from './codehosts/setup/code-host.routes.ts'
import { codeHostSetupRoutes } from './codehosts/setup/code-host-setup.routes.ts'
import { deliveryRoutes } from './codehosts/setup/delivery.routes.ts'
import { policyRoutes } from './compliance/policies/policy.routes.ts'
import { ListedPolicy, PolicyVersion } from './compliance/policies/policy-response.schema.ts'
import { resultRoutes } from './compliance/results/result.routes.ts'
import { ComplianceResult } from './compliance/results/result.schema.ts'
import { consoleRoutes } from './console-server/console.routes.ts'
import { eventRoutes } from './console-server/event.routes.ts'
import { registerRouteUpdates } from './console-server/route-updates.ts'
import { savedViewRoutes } from './console-server/saved-view.routes.ts'
import { answerRoutes } from './deployments/approvals/answer.routes.ts'
import { deploymentDecisionRoutes } from './deployments/approvals/decision.routes.ts'
import { DeploymentDecision } from './deployments/approvals/decision.schema.ts'
import { deploymentBoardRoutes } from './deployments/board/board.routes.ts'
import { DeploymentBoard } from './deployments/board/board.schema.ts'
import { deploymentRoutes } from './deployments/deployment.routes.ts'
import { Deployment } from './deployments/deployment.schema.ts'
import { configuredGateRoutes } from './deployments/gates/configure/configured-gate.routes.ts'
import { ConfiguredGate, GateVersion } from './deployments/gates/configure/configured-gate.schema.ts'
import { gateRoutes } from './deployments/gates/gate.routes.ts'
import { DeploymentGate, OpenedGate } from './deployments/gates/gate.schema.ts'
import { policyChangeRoutes } from './deployments/policy/policy-change.routes.ts'
import { usageRoutes } from './organizations/usage.routes.ts'
import { createHttpServer, type HttpServer } from './platform/http/http-server.ts'
import { addErrorSchemas, KEY_ERROR_RESPONSES, registerDocs, registerOpenApi } from './platform/http/openapi.ts'
import { registerHealth } from './platform/http/operations.routes.ts'
import { FileObjectStore } from './platform/objects/file-object-store.ts'
import { objectRoutes } from './platform/objects/object.routes.ts'
import { changeRoutes } from './provenance/changes/change.routes.ts'
import { Change, ListedChange } from './provenance/changes/change.schema.ts'
import { signingKeyRoutes } from './provenance/keys/signing-key.routes.ts'
import { SigningKeys } from './provenance/keys/signing-key.schema.ts'
import { logRoutes } from './provenance/log/log.routes.ts'
import { statementRoutes } from './provenance/statements/statement.routes.ts'
import { SignedStatement } from './provenance/statements/statement.schema.ts'
import { alertRoutes } from './security/alerts/alert.routes.ts'
import { Alert } from './security/alerts/alert.schema.ts'
import { findingRoutes } from './security/findings/finding.routes.ts'
import { Finding } from './security/findings/finding.schema.ts'
import { formatTitles, REPORT_FORMATS, VEX_FORMATS } from './security/formats/catalogue.ts'
import { IssueExplanation } from './security/issues/explain/issue-explanation.schema.ts'
import { issueRoutes } from './security/issues/issue.routes.ts'
import { Issue } from './security/issues/issue.schema.ts'
import { repositoryListRoutes } from './security/repositories/repository-list.routes.ts'
import { KnownRepository } from './security/repositories/repository-list.schema.ts'
import { issueEditRoutes } from './security/triage/issue-edit.routes.ts'
import { triageRoutes } from './security/triage/triage.routes.ts'
import { downloadRoutes } from './security/uploads/download.routes.ts'
import { uploadRoutes } from './security/uploads/upload.routes.ts'
import { SecurityUpload } from './security/uploads/upload.schema.ts'
import { vexRoutes } from './security/vex/export/vex.routes.ts'
import type { Services } from './services.ts'
import { readinessChecks } from './start/readiness-checks.ts'
import { addMetrics } from './start/serve-metrics.ts'
import { chartRoutes } from './trends/chart.routes.ts'

const DESCRIPTION = {
  prefix: '/v1',
  errorResponses: KEY_ERROR_RESPONSES,
  title: 'Shiplock',
  description: `Shiplock records the CI runs of a delivery pipeline and their results, reads security reports into findings and
issues, evaluates policies, and approves or rejects deployments.

- **Authentication**: send an API key of your organization as \`Authorization: Bearer <API key>\`. Each operation states
  the scope that the key needs. Operations with the scopes \`write:ci\` and \`write:security-findings\` also accept the OIDC
  token of a CI job, if your organization has a trust whose conditions the token satisfies.
- **Responses**: a single object is \`{ "data": … }\`, a list is \`{ "data": […], "next_cursor": …, "meta": … }\`. Lists
  are sorted newest first. To get the next page, send \`next_cursor\` as \`cursor\`.
- **Errors**: \`{ "error": { "code", "message", "details" } }\`, except for a rejected key or token:
  \`{ "message": "Unauthorized" }\` or \`{ "message": "Forbidden" }\`.
- **Repeating requests**: every operation that creates an object can be repeated safely. The status is 201 if the object
  was created and 200 if it existed.
- **Times** are RFC 3339 with an offset in requests, and UTC with milliseconds in responses.
- **Rate limits**: responses contain \`RateLimit-Limit\`, \`RateLimit-Remaining\` and \`RateLimit-Reset\`. A 429 contains
  \`Retry-After\` in seconds.`,
  version: '1.0.0',
  securitySchemes: {
    apiKey: {
      type: 'http',
      scheme: 'bearer',
      description:
        'An API key of an organization: `shl_live_…` for production, `shl_dev_…` for development. Operations with the scopes `write:ci` and `write:security-findings` also accept the OIDC token of a CI job (a JWT) for which the organization has a trust.',
    },
    pollToken: {
      type: 'http',
      scheme: 'bearer',
      description: 'The poll token of a deployment gate, as returned by openCiGate: `shl_gate_…`.',
    },
  },
  tags: [
    {
      name: 'CI ingestion',
      description: 'Create and update CI runs, and send job reports, attestations and artifacts.',
    },
    { name: 'Pipeline runs', description: 'Read the pipeline runs of every source.' },
    {
      name: 'Security uploads',
      description: `Upload ${formatTitles(REPORT_FORMATS, 'and')} reports, and ${formatTitles(VEX_FORMATS, 'and')} documents.`,
    },
    { name: 'Findings and issues', description: 'Read raw findings, and the issues that they are grouped into.' },
    { name: 'Security alerts', description: 'Read the security alerts of connected code hosts.' },
    { name: 'Compliance', description: 'Read the results of policies for repositories.' },
    { name: 'Deployments', description: 'Read, approve and reject deployments.' },
    {
      name: 'Provenance',
      description: 'Read the changes that landed on tracked branches, and signed statements about them.',
    },
    { name: 'Deployment gates', description: 'Open deployment gates from CI jobs, and poll their decisions.' },
  ],
} as const

/** Schemas that OpenAPI lists by name under `components/schemas`. */
const SHARED_SCHEMAS = [
  CiRun,
  CiReportResult,
  ListedReport,
  RunJob,
  StoredReport,
  StoredArtifact,
  DeploymentBoard,
  DeploymentDecision,
  KnownRepository,
  PipelineRun,
  SecurityUpload,
  Finding,
  Issue,
  IssueExplanation,
  Alert,
  ComplianceResult,
  Deployment,
  DeploymentGate,
  OpenedGate,
  SigningKeys,
  Change,
  ListedChange,
  SignedStatement,
  ListedApiKey,
  ListedTrust,
  ConfiguredGate,
  GateVersion,
  ListedPolicy,
  PolicyVersion,
]

/** Creates the API: first what applies to every request, then the routes of each slice. */
export async function createApp(services: Services): Promise<HttpServer> {
  const { baseUrl, connectionsPerAddressMax: connectionsPerAddress, trustedProxies } = services.config
  const overTls = baseUrl.startsWith('https:')
  const app = createHttpServer(services.log, { overTls, connectionsPerAddress, trustedProxies })
  const base = app as unknown as FastifyInstance
  for (const schema of SHARED_SCHEMAS) app.addSchema(schema)
  addErrorSchemas(base)
  registerOpenToPeople(base)
  registerAccessDescriptions(base)
  await registerOpenApi(base, { ...DESCRIPTION, serverUrl: services.config.baseUrl })
  await registerOpenApi(base, { ...DESCRIPTION, ...applicationDescription(services.config.baseUrl, DESCRIPTION.tags) })
  await registerDocs(base, DESCRIPTION)
  registerHealth(base, readinessChecks(services))
  if (services.config.metricsPort === null) addMetrics(base, services)
  await registerAuthorization(base, services)
  registerPeople(base, services)
  registerRouteUpdates(base, services)

  await app.register(runRoutes, services)
  await app.register(reportRoutes, services)
  await app.register(ingestRoutes, services)
  await app.register(pipelineRunRoutes, services)
  await app.register(uploadRoutes, services)
  await app.register(findingRoutes, services)
  await app.register(vexRoutes, services)
  await app.register(issueRoutes, services)
  await app.register(alertRoutes, services)
  await app.register(resultRoutes, services)
  await app.register(deploymentRoutes, services)
  await app.register(answerRoutes, services)
  await app.register(gateRoutes, services)
  await app.register(signingKeyRoutes, services)
  await app.register(changeRoutes, services)
  await app.register(statementRoutes, services)
  await registerPeopleRoutes(app, services)
  await app.register(consoleRoutes, services)
  await app.register(hostRoutes, services)
  await app.register(webhookRoutes, services)
  await app.register(logRoutes, services)
  // The file store has no separate server.
  const { objects, clock } = services
  if (objects instanceof FileObjectStore) await app.register(objectRoutes, { objects, clock })
  return app
}

/** The routes for people only, under /app/api, beside those that /v1 shares with them. */
async function registerPeopleRoutes(app: HttpServer, services: Services): Promise<void> {
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

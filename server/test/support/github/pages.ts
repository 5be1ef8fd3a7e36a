/** Below `https://docs.github.com/rest/`. */
const REST_PAGES: Readonly<Record<string, string>> = {
  'GET /app': 'apps/apps#get-the-authenticated-app',
  'GET /app/installations': 'apps/apps#list-installations-for-the-authenticated-app',
  'GET /app/installations/{installation_id}': 'apps/apps#get-an-installation-for-the-authenticated-app',
  'POST /app/installations/{installation_id}/access_tokens': 'apps/apps#create-an-installation-access-token-for-an-app',
  'GET /app/hook/config': 'apps/webhooks#get-a-webhook-configuration-for-an-app',
  'GET /app/hook/deliveries': 'apps/webhooks#list-deliveries-for-an-app-webhook',
  'GET /app/hook/deliveries/{delivery_id}': 'apps/webhooks#get-a-delivery-for-an-app-webhook',
  'POST /app/hook/deliveries/{delivery_id}/attempts': 'apps/webhooks#redeliver-a-delivery-for-an-app-webhook',
  'POST /app-manifests/{code}/conversions': 'apps/apps#create-a-github-app-from-a-manifest',
  'GET /installation/repositories': 'apps/installations#list-repositories-accessible-to-the-app-installation',
  'GET /rate_limit': 'rate-limit/rate-limit#get-rate-limit-status-for-the-authenticated-user',
  'GET /users/{username}': 'users/users#get-a-user',
  'GET /repos/{owner}/{repo}': 'repos/repos#get-a-repository',
  'GET /repos/{owner}/{repo}/installation': 'apps/apps#get-a-repository-installation-for-the-authenticated-app',
  'GET /repos/{owner}/{repo}/actions/runs': 'actions/workflow-runs#list-workflow-runs-for-a-repository',
  'GET /repos/{owner}/{repo}/actions/runs/{run_id}': 'actions/workflow-runs#get-a-workflow-run',
  'GET /repos/{owner}/{repo}/actions/runs/{run_id}/attempts/{attempt_number}':
    'actions/workflow-runs#get-a-workflow-run-attempt',
  'GET /repos/{owner}/{repo}/actions/runs/{run_id}/attempts/{attempt_number}/jobs':
    'actions/workflow-jobs#list-jobs-for-a-workflow-run-attempt',
  'GET /repos/{owner}/{repo}/actions/runs/{run_id}/jobs': 'actions/workflow-jobs#list-jobs-for-a-workflow-run',
  'GET /repos/{owner}/{repo}/actions/runs/{run_id}/approvals':
    'actions/workflow-runs#get-the-review-history-for-a-workflow-run',
  'GET /repos/{owner}/{repo}/actions/runs/{run_id}/pending_deployments':
    'actions/workflow-runs#get-pending-deployments-for-a-workflow-run',
  'POST /repos/{owner}/{repo}/actions/runs/{run_id}/deployment_protection_rule':
    'actions/workflow-runs#review-custom-deployment-protection-rules-for-a-workflow-run',
  'GET /repos/{owner}/{repo}/actions/jobs/{job_id}': 'actions/workflow-jobs#get-a-job-for-a-workflow-run',
  'GET /repos/{owner}/{repo}/actions/jobs/{job_id}/logs': 'actions/workflow-jobs#download-job-logs-for-a-workflow-run',
  'GET /repos/{owner}/{repo}/check-runs/{check_run_id}': 'checks/runs#get-a-check-run',
  'GET /repos/{owner}/{repo}/check-runs/{check_run_id}/annotations': 'checks/runs#list-check-run-annotations',
  'GET /repos/{owner}/{repo}/commits/{ref}': 'commits/commits#get-a-commit',
  'GET /repos/{owner}/{repo}/commits/{commit_sha}/pulls': 'commits/commits#list-pull-requests-associated-with-a-commit',
  'GET /repos/{owner}/{repo}/commits/{ref}/check-runs': 'checks/runs#list-check-runs-for-a-git-reference',
  'GET /repos/{owner}/{repo}/commits/{ref}/status': 'commits/statuses#get-the-combined-status-for-a-specific-reference',
  'GET /repos/{owner}/{repo}/commits/{ref}/statuses': 'commits/statuses#list-commit-statuses-for-a-reference',
  'GET /repos/{owner}/{repo}/compare/{basehead}': 'commits/commits#compare-two-commits',
  'GET /repos/{owner}/{repo}/activity': 'repos/repos#list-repository-activities',
  'GET /repos/{owner}/{repo}/contents/{path}': 'repos/contents#get-repository-content',
  'GET /repos/{owner}/{repo}/git/blobs/{file_sha}': 'git/blobs#get-a-blob',
  'GET /repos/{owner}/{repo}/pulls': 'pulls/pulls#list-pull-requests',
  'GET /repos/{owner}/{repo}/pulls/{pull_number}': 'pulls/pulls#get-a-pull-request',
  'GET /repos/{owner}/{repo}/pulls/{pull_number}/commits': 'pulls/pulls#list-commits-on-a-pull-request',
  'GET /repos/{owner}/{repo}/pulls/{pull_number}/files': 'pulls/pulls#list-pull-requests-files',
  'GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews': 'pulls/reviews#list-reviews-for-a-pull-request',
  'GET /repos/{owner}/{repo}/deployments': 'deployments/deployments#list-deployments',
  'GET /repos/{owner}/{repo}/deployments/{deployment_id}': 'deployments/deployments#get-a-deployment',
  'GET /repos/{owner}/{repo}/deployments/{deployment_id}/statuses': 'deployments/statuses#list-deployment-statuses',
  'GET /repos/{owner}/{repo}/environments': 'deployments/environments#list-environments',
  'GET /repos/{owner}/{repo}/environments/{environment_name}': 'deployments/environments#get-an-environment',
  'GET /repos/{owner}/{repo}/environments/{environment_name}/deployment_protection_rules':
    'deployments/protection-rules#get-all-deployment-protection-rules-for-an-environment',
  'GET /repos/{owner}/{repo}/code-scanning/alerts':
    'code-scanning/code-scanning#list-code-scanning-alerts-for-a-repository',
  'GET /repos/{owner}/{repo}/code-scanning/alerts/{alert_number}':
    'code-scanning/code-scanning#get-a-code-scanning-alert',
  'PATCH /repos/{owner}/{repo}/code-scanning/alerts/{alert_number}':
    'code-scanning/code-scanning#update-a-code-scanning-alert',
  'GET /repos/{owner}/{repo}/dependabot/alerts': 'dependabot/alerts#list-dependabot-alerts-for-a-repository',
  'GET /repos/{owner}/{repo}/dependabot/alerts/{alert_number}': 'dependabot/alerts#get-a-dependabot-alert',
  'PATCH /repos/{owner}/{repo}/dependabot/alerts/{alert_number}': 'dependabot/alerts#update-a-dependabot-alert',
  'GET /repos/{owner}/{repo}/secret-scanning/alerts':
    'secret-scanning/secret-scanning#list-secret-scanning-alerts-for-a-repository',
  'GET /repos/{owner}/{repo}/secret-scanning/alerts/{alert_number}':
    'secret-scanning/secret-scanning#get-a-secret-scanning-alert',
  'PATCH /repos/{owner}/{repo}/secret-scanning/alerts/{alert_number}':
    'secret-scanning/secret-scanning#update-a-secret-scanning-alert',
  'GET /repos/{owner}/{repo}/secret-scanning/alerts/{alert_number}/locations':
    'secret-scanning/secret-scanning#list-locations-for-a-secret-scanning-alert',
  'POST /repos/{owner}/{repo}/statuses/{sha}': 'commits/statuses#create-a-commit-status',
  'GET /repos/{owner}/{repo}/rules/branches/{branch}': 'repos/rules#get-rules-for-a-branch',
  // The address that GitHub redirects to.
  'GET /_logs/{repository}/{job}': 'actions/workflow-jobs#download-job-logs-for-a-workflow-run',
}

/** GitHub's page about each operation that the fake answers. */
export const GITHUB_PAGES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    Object.entries(REST_PAGES).map(([operation, page]) => [operation, `https://docs.github.com/rest/${page}`]),
  ),
  'POST /graphql': 'https://docs.github.com/graphql/reference/objects#repository',
}

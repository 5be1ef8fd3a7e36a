/** Below `https://learn.microsoft.com/rest/api/azure/devops/`. */
const REST_PAGES: Readonly<Record<string, string>> = {
  'GET /{organization}/_apis/git/repositories': 'git/repositories/list',
  'GET /{organization}/_apis/git/repositories/{repositoryId}': 'git/repositories/get-repository',
  'GET /{organization}/{project}/_apis/git/repositories/{repositoryId}': 'git/repositories/get-repository',
  'GET /{organization}/{project}/_apis/git/repositories/{repositoryId}/refs': 'git/refs/list',
  'GET /{organization}/{project}/_apis/git/repositories/{repositoryId}/items': 'git/items/list',
  'GET /{organization}/{project}/_apis/git/repositories/{repositoryId}/pushes': 'git/pushes/list',
  'GET /{organization}/{project}/_apis/git/repositories/{repositoryId}/diffs/commits': 'git/diffs/get',
  'POST /{organization}/{project}/_apis/git/repositories/{repositoryId}/commitsbatch': 'git/commits/get-commits-batch',
  'POST /{organization}/{project}/_apis/git/repositories/{repositoryId}/pullrequestquery': 'git/pull-request-query/get',
  'GET /{organization}/{project}/_apis/git/repositories/{repositoryId}/commits/{commitId}': 'git/commits/get',
  'GET /{organization}/{project}/_apis/git/repositories/{repositoryId}/commits/{commitId}/statuses':
    'git/statuses/list',
  'POST /{organization}/{project}/_apis/git/repositories/{repositoryId}/commits/{commitId}/statuses':
    'git/statuses/create',
  'GET /{organization}/{project}/_apis/git/repositories/{repositoryId}/pullrequests':
    'git/pull-requests/get-pull-requests',
  'GET /{organization}/{project}/_apis/git/repositories/{repositoryId}/pullrequests/{pullRequestId}':
    'git/pull-requests/get-pull-request',
  'GET /{organization}/{project}/_apis/git/repositories/{repositoryId}/pullRequests/{pullRequestId}/commits':
    'git/pull-request-commits/get-pull-request-commits',
  'GET /{organization}/{project}/_apis/git/repositories/{repositoryId}/pullRequests/{pullRequestId}/threads':
    'git/pull-request-threads/list',
  'GET /{organization}/{project}/_apis/git/repositories/{repositoryId}/pullRequests/{pullRequestId}/iterations':
    'git/pull-request-iterations/list',
  'GET /{organization}/{project}/_apis/git/repositories/{repositoryId}/pullRequests/{pullRequestId}/iterations/{iterationId}/changes':
    'git/pull-request-iteration-changes/get',
  'GET /{organization}/{project}/_apis/git/policy/configurations': 'git/policy-configurations/get',
  'GET /{organization}/{project}/_apis/build/builds': 'build/builds/list',
  'GET /{organization}/{project}/_apis/build/builds/{buildId}': 'build/builds/get',
  'GET /{organization}/{project}/_apis/build/builds/{buildId}/timeline': 'build/timeline/get',
  'GET /{organization}/{project}/_apis/build/builds/{buildId}/timeline/{timelineId}': 'build/timeline/get',
  'GET /{organization}/{project}/_apis/build/builds/{buildId}/logs': 'build/builds/get-build-logs',
  'GET /{organization}/{project}/_apis/build/builds/{buildId}/logs/{logId}': 'build/builds/get-build-log',
  'GET /{organization}/{project}/_apis/build/definitions/{definitionId}': 'build/definitions/get',
  'GET /{organization}/{project}/_apis/distributedtask/environments': 'distributedtask/environments/list',
  'GET /{organization}/{project}/_apis/distributedtask/environments/{environmentId}':
    'distributedtask/environments/get',
  'GET /{organization}/{project}/_apis/distributedtask/environments/{environmentId}/environmentdeploymentrecords':
    'distributedtask/environmentdeployment-records/list',
  'GET /{organization}/{project}/_apis/pipelines/checks/configurations': 'approvalsandchecks/check-configurations/list',
  'GET /{organization}/{project}/_apis/pipelines/checks/runs/{checkSuiteId}':
    'approvalsandchecks/check-evaluations/get',
  'GET /{organization}/{project}/_apis/pipelines/approvals': 'approvalsandchecks/approvals/query',
  'POST /{organization}/{scopeIdentifier}/_apis/distributedtask/hubs/{hubName}/plans/{planId}/events':
    'distributedtask/events/post-event',
  'POST /{organization}/{scopeIdentifier}/_apis/distributedtask/hubs/{hubName}/plans/{planId}/logs':
    'distributedtask/logs/create',
  'POST /{organization}/{scopeIdentifier}/_apis/distributedtask/hubs/{hubName}/plans/{planId}/logs/{logId}':
    'distributedtask/logs/append-log-content',
  'PATCH /{organization}/{scopeIdentifier}/_apis/distributedtask/hubs/{hubName}/plans/{planId}/timelines/{timelineId}/records':
    'distributedtask/records/update',
  'GET /{organization}/{project}/_apis/serviceendpoint/endpoints': 'serviceendpoint/endpoints/get-service-endpoints',
  'GET /{organization}/{project}/_apis/serviceendpoint/endpoints/{endpointId}': 'serviceendpoint/endpoints/get',
  'POST /{organization}/_apis/serviceendpoint/endpoints': 'serviceendpoint/endpoints/create',
  'PUT /{organization}/_apis/serviceendpoint/endpoints/{endpointId}':
    'serviceendpoint/endpoints/update-service-endpoint',
  'DELETE /{organization}/_apis/serviceendpoint/endpoints/{endpointId}': 'serviceendpoint/endpoints/delete',
  'GET /{organization}/_apis/hooks/subscriptions': 'hooks/subscriptions/list',
  'POST /{organization}/_apis/hooks/subscriptions': 'hooks/subscriptions/create',
  'PUT /{organization}/_apis/hooks/subscriptions/{subscriptionId}': 'hooks/subscriptions/replace-subscription',
  'DELETE /{organization}/_apis/hooks/subscriptions/{subscriptionId}': 'hooks/subscriptions/delete',
  'GET /{organization}/{project}/_apis/alert/repositories/{repository}/alerts': 'advancedsecurity/alerts/list',
  'GET /{organization}/{project}/_apis/alert/repositories/{repository}/alerts/{alertId}': 'advancedsecurity/alerts/get',
  'PATCH /{organization}/{project}/_apis/alert/repositories/{repository}/alerts/{alertId}':
    'advancedsecurity/alerts/update',
}

/** Microsoft's page about each operation that the fake answers. */
export const AZURE_PAGES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    Object.entries(REST_PAGES).map(([operation, page]) => [
      operation,
      `https://learn.microsoft.com/rest/api/azure/devops/${page}`,
    ]),
  ),
  'POST /{tenant}/oauth2/v2.0/token':
    'https://learn.microsoft.com/entra/identity-platform/v2-oauth2-client-creds-grant-flow',
  'GET /_apis/resourceAreas/{areaId}': 'https://learn.microsoft.com/azure/devops/extend/develop/work-with-urls',
  'GET /{organization}/_apis/connectionData':
    'https://learn.microsoft.com/javascript/api/azure-devops-extension-api/connectiondata',
}

/** The operations that the program uses, by the document that describes them. */
export const DESCRIBED: Readonly<Record<string, readonly string[]>> = {
  'git/7.1/git': [
    'GET /{organization}/{project}/_apis/git/repositories',
    'GET /{organization}/{project}/_apis/git/repositories/{repositoryId}',
    'GET /{organization}/{project}/_apis/git/repositories/{repositoryId}/refs',
    'GET /{organization}/{project}/_apis/git/repositories/{repositoryId}/items',
    'GET /{organization}/{project}/_apis/git/repositories/{repositoryId}/pushes',
    'GET /{organization}/{project}/_apis/git/repositories/{repositoryId}/diffs/commits',
    'POST /{organization}/{project}/_apis/git/repositories/{repositoryId}/commitsbatch',
    'POST /{organization}/{project}/_apis/git/repositories/{repositoryId}/pullrequestquery',
    'GET /{organization}/{project}/_apis/git/repositories/{repositoryId}/commits/{commitId}',
    'GET /{organization}/{project}/_apis/git/repositories/{repositoryId}/commits/{commitId}/statuses',
    'POST /{organization}/{project}/_apis/git/repositories/{repositoryId}/commits/{commitId}/statuses',
    'GET /{organization}/{project}/_apis/git/repositories/{repositoryId}/pullrequests',
    'GET /{organization}/{project}/_apis/git/repositories/{repositoryId}/pullrequests/{pullRequestId}',
    'GET /{organization}/{project}/_apis/git/repositories/{repositoryId}/pullRequests/{pullRequestId}/commits',
    'GET /{organization}/{project}/_apis/git/repositories/{repositoryId}/pullRequests/{pullRequestId}/threads',
    'GET /{organization}/{project}/_apis/git/repositories/{repositoryId}/pullRequests/{pullRequestId}/iterations',
    'GET /{organization}/{project}/_apis/git/repositories/{repositoryId}/pullRequests/{pullRequestId}/iterations/{iterationId}/changes',
    'GET /{organization}/{project}/_apis/git/policy/configurations',
  ],
  'build/7.1/build': [
    'GET /{organization}/{project}/_apis/build/builds',
    'GET /{organization}/{project}/_apis/build/builds/{buildId}',
    'GET /{organization}/{project}/_apis/build/builds/{buildId}/logs',
    'GET /{organization}/{project}/_apis/build/builds/{buildId}/logs/{logId}',
    'GET /{organization}/{project}/_apis/build/builds/{buildId}/timeline/{timelineId}',
    'GET /{organization}/{project}/_apis/build/definitions/{definitionId}',
  ],
  'distributedTask/7.1/taskAgent': [
    'GET /{organization}/{project}/_apis/distributedtask/environments',
    'GET /{organization}/{project}/_apis/distributedtask/environments/{environmentId}',
    'GET /{organization}/{project}/_apis/distributedtask/environments/{environmentId}/environmentdeploymentrecords',
  ],
  'distributedTask/7.1/task': [
    'POST /{organization}/{scopeIdentifier}/_apis/distributedtask/hubs/{hubName}/plans/{planId}/events',
    'POST /{organization}/{scopeIdentifier}/_apis/distributedtask/hubs/{hubName}/plans/{planId}/logs',
    'POST /{organization}/{scopeIdentifier}/_apis/distributedtask/hubs/{hubName}/plans/{planId}/logs/{logId}',
    'PATCH /{organization}/{scopeIdentifier}/_apis/distributedtask/hubs/{hubName}/plans/{planId}/timelines/{timelineId}/records',
  ],
  'approvalsAndChecks/7.1/pipelinesChecks': [
    'GET /{organization}/{project}/_apis/pipelines/checks/configurations',
    'GET /{organization}/{project}/_apis/pipelines/checks/runs/{checkSuiteId}',
  ],
  'approvalsAndChecks/7.1/pipelinesapproval': ['GET /{organization}/{project}/_apis/pipelines/approvals'],
  'serviceEndpoint/7.1/serviceEndpoint': [
    'GET /{organization}/{project}/_apis/serviceendpoint/endpoints',
    'GET /{organization}/{project}/_apis/serviceendpoint/endpoints/{endpointId}',
    'POST /{organization}/_apis/serviceendpoint/endpoints',
    'PUT /{organization}/_apis/serviceendpoint/endpoints/{endpointId}',
    'DELETE /{organization}/_apis/serviceendpoint/endpoints/{endpointId}',
  ],
  'hooks/7.1/serviceHooks': [
    'GET /{organization}/_apis/hooks/subscriptions',
    'POST /{organization}/_apis/hooks/subscriptions',
    'PUT /{organization}/_apis/hooks/subscriptions/{subscriptionId}',
    'DELETE /{organization}/_apis/hooks/subscriptions/{subscriptionId}',
  ],
  'advancedSecurity/7.2/alert': [
    'GET /{organization}/{project}/_apis/alert/repositories/{repository}/alerts',
    'GET /{organization}/{project}/_apis/alert/repositories/{repository}/alerts/{alertId}',
    'PATCH /{organization}/{project}/_apis/alert/repositories/{repository}/alerts/{alertId}',
  ],
}

/** Paths that leave out an optional part, which the documents describe with it only. */
export const SHORTER_PATHS: Readonly<Record<string, string>> = {
  '/{organization}/{project}/_apis/git/repositories': '/{organization}/_apis/git/repositories',
  '/{organization}/{project}/_apis/git/repositories/{repositoryId}':
    '/{organization}/_apis/git/repositories/{repositoryId}',
  '/{organization}/{project}/_apis/build/builds/{buildId}/timeline/{timelineId}':
    '/{organization}/{project}/_apis/build/builds/{buildId}/timeline',
}

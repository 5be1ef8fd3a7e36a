import type { Claims } from '../../src/access/oidc-trusts/claims.ts'

/** The claims of a GitHub Actions job (GitHub, "OpenID Connect reference"), without times. */
export function githubClaims(): Claims {
  return {
    jti: '1b8d4c0e-0e0f-4a0c-8f0b-0d5c6a1f2e3d',
    sub: 'repo:acme@5550001/shop@7770001:ref:refs/heads/main',
    ref: 'refs/heads/main',
    sha: '9f2a1c3b4d5e6f708192a3b4c5d6e7f801234567',
    repository: 'acme/shop',
    repository_owner: 'acme',
    repository_owner_id: '5550001',
    run_id: '11223344556',
    run_number: '42',
    run_attempt: '1',
    repository_visibility: 'private',
    repository_id: '7770001',
    actor_id: '900001',
    actor: 'alice',
    workflow: 'build',
    head_ref: '',
    base_ref: '',
    event_name: 'push',
    ref_protected: 'true',
    ref_type: 'branch',
    workflow_ref: 'acme/shop/.github/workflows/build.yml@refs/heads/main',
    workflow_sha: '9f2a1c3b4d5e6f708192a3b4c5d6e7f801234567',
    job_workflow_ref: 'acme/shop/.github/workflows/build.yml@refs/heads/main',
    job_workflow_sha: '9f2a1c3b4d5e6f708192a3b4c5d6e7f801234567',
    runner_environment: 'github-hosted',
  }
}

/** The claims of a GitLab job (GitLab, "OIDC authentication using ID tokens"), without times. */
export function gitlabClaims(): Claims {
  return {
    jti: '235b3a54-b797-45c7-ae9a-f72d7bc6ef5b',
    sub: 'project_path:acme/shop:ref_type:branch:ref:main',
    namespace_id: '68413579',
    namespace_path: 'acme',
    project_id: '46573356',
    project_path: 'acme/shop',
    job_namespace_id: '68413579',
    job_namespace_path: 'acme',
    job_project_id: '46573356',
    job_project_path: 'acme/shop',
    user_id: '184239',
    user_login: 'alice',
    user_email: 'alice@example.com',
    user_access_level: 'owner',
    user_identities: [{ provider: 'github', extern_uid: '2435223452345' }],
    groups_direct: ['acme', 'acme/platform'],
    pipeline_id: '1519139981',
    pipeline_source: 'push',
    job_id: '8222997048',
    job_source: 'push',
    ref: 'main',
    ref_type: 'branch',
    ref_path: 'refs/heads/main',
    ref_protected: 'true',
    runner_id: 12270835,
    runner_environment: 'gitlab-hosted',
    sha: '8fe1b322a576d59fe6257052a4107df7dc1b8c78',
    project_visibility: 'private',
    ci_config_ref_uri: 'gitlab.com/acme/shop//.gitlab-ci.yml@refs/heads/main',
    ci_config_sha: '8fe1b322a576d59fe6257052a4107df7dc1b8c78',
  }
}

/** The claims of a Bitbucket step (Atlassian, "Integrate Pipelines with resource servers"). */
export function bitbucketClaims(): Claims {
  return {
    sub: '{8864cd24-449d-4441-8862-cf4fe8ad6caa}:{d5ff2daf-063f-4c13-82fc-cb51af94c2cb}',
    repositoryUuid: '{8864cd24-449d-4441-8862-cf4fe8ad6caa}',
    workspaceUuid: '{e2b9cba7-4ecf-452c-bb1c-87add4084c99}',
    pipelineUuid: '{805b0ca6-1086-4d23-b526-de1d38cf3bf1}',
    stepUuid: '{d5ff2daf-063f-4c13-82fc-cb51af94c2cb}',
    branchName: 'main',
  }
}

/** The claims of an Azure Pipelines job, as `System.OidcRequestUri` issues them, without times. */
export function azureClaims(): Claims {
  return {
    jti: '90b75b0a-61b6-4b71-ba6f-11107d95f4c5',
    sub: 'p://acme/web/shop-build',
    org_id: '0ca3ddd9-f0b0-4635-a98c-5866526961b6',
    prj_id: '271ef6f7-5998-4b0f-86fb-4b54d9129990',
    def_id: '1',
    rpo_id: '6f9c0ee2-3c35-4d7a-8f54-0a2f51d8c8b1',
    rpo_uri: 'https://dev.azure.com/acme/web/_git/shop',
    rpo_ver: 'c291ea713801eb300054d353d279e7b02331f671',
    rpo_ref: 'refs/heads/main',
    run_id: '5021',
  }
}

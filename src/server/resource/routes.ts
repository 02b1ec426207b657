import type { SecretBox } from '../../access/secret-box.ts'
import type { Route } from '../route.ts'
import { accessRoutes } from './access-routes.ts'
import { auditRoutes } from './audit-routes.ts'
import { maskingRuleRoutes } from './masking-routes.ts'
import { organizationPartRoutes } from './organization-parts.ts'
import { promptRoutes } from './prompt-routes.ts'
import type { PromptStore } from './prompt-store.ts'
import { removedRoutes } from './removed-routes.ts'
import { catalogResources } from './resources.ts'
import { secretRoutes } from './secret-routes.ts'
import { viewRoutes } from './view-routes.ts'

/** The resources of `/v1` beside records. */
export function restRoutes(prompts: PromptStore, secrets: SecretBox): Route[] {
  return [
    ...catalogResources,
    ...organizationPartRoutes,
    ...maskingRuleRoutes,
    ...accessRoutes,
    ...promptRoutes(prompts),
    ...viewRoutes,
    ...secretRoutes(secrets, prompts),
    ...auditRoutes,
    ...removedRoutes,
  ]
}

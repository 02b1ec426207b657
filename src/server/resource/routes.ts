import type { SecretBox } from '../../access/secret-box.ts'
import type { Engine } from '../../engine.ts'
import type { Route } from '../route.ts'
import { accessRoutes } from './access-routes.ts'
import { auditRoutes } from './audit-routes.ts'
import { promptRoutes } from './prompt-routes.ts'
import { PromptStore } from './prompt-store.ts'
import { catalogResources } from './resources.ts'
import { secretRoutes } from './secret-routes.ts'
import { viewRoutes } from './view-routes.ts'

/** The resources of `/v1` beside records. */
export function restRoutes(engine: Engine, secrets: SecretBox): Route[] {
  const prompts = new PromptStore(engine)
  return [
    ...catalogResources,
    ...accessRoutes,
    ...promptRoutes(prompts),
    ...viewRoutes,
    ...secretRoutes(secrets, prompts),
    ...auditRoutes,
  ]
}

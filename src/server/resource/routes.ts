import type { Engine } from '../../engine.ts'
import type { Route } from '../route.ts'
import { accessRoutes } from './access-routes.ts'
import { promptRoutes } from './prompt-routes.ts'
import { PromptStore } from './prompt-store.ts'
import { catalogResources } from './resources.ts'

/** The resources of `/v1` beside records. */
export function restRoutes(engine: Engine): Route[] {
  return [...catalogResources, ...accessRoutes, ...promptRoutes(new PromptStore(engine))]
}

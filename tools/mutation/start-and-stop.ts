/** Run like a test file, so that what every start of the service reaches is known. */
import { startTestService } from "../../test/support/service.ts";

const service = await startTestService();
await service.stop();

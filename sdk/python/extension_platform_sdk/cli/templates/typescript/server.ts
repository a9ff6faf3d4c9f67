// Starts the app: npm start

import "./env.js"; // before what reads the environment

import { createServer } from "node:http";

import { app } from "./app.js";

const port = process.env.PORT ?? LOCAL_PORT;
createServer(app).listen(port, () => console.log(`http://localhost:${port}`));

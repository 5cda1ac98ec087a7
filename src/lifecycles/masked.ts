export { readable } from "../helpers/masked";
